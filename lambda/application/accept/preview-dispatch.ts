import type { RecipientInput } from '../../domain/dispatch/content.ts';
import type { DispatchRequest } from '../../domain/dispatch/dispatch-request.ts';
import type { SendEstimate } from '../../domain/dispatch/send-estimate.ts';
import type { AcceptRepository, Hashes, RenderSamples, Samples } from '../ports/accept.ts';
import type { Clock } from '../ports/system.ts';
import type { Refusal } from './accept-dispatch.ts';
import { draftContent, type DraftDeps, type DraftedContent } from './draft-content.ts';
import type { BeginEstimate } from './estimate.ts';
import { newDispatch } from './new-dispatch.ts';

export interface PreviewDispatchDeps extends DraftDeps {
  readonly dispatches: Pick<AcceptRepository, 'tooLarge'>;
  readonly hashes: Pick<Hashes, 'fingerprint'>;
  readonly renderSamples: RenderSamples;
  readonly beginEstimate: BeginEstimate;
  readonly clock: Clock;
}

/** A recipient whose address an earlier one has too. */
export interface SharedAddress {
  /** Place among the recipients. */
  readonly index: number;
  readonly applyId: string;
  readonly earlier: string;
}

/** What a request would come to. */
export interface Preview {
  /** Why it would not be taken; nothing: it would be. */
  readonly refusals: readonly Exclude<Refusal, { outcome: 'possible-duplicate' }>[];
  readonly sharedAddresses: readonly SharedAddress[];
  readonly samples: Samples;
  /** Of the template that the mails would be made of; absent: there is none. */
  readonly templateVersion?: string;
  readonly estimate?: SendEstimate;
}

export type PreviewDispatch = (adminId: string, request: DispatchRequest) => Promise<Preview>;

const NO_SAMPLES: Samples = { mails: [], cutShort: false };

/** Does with a request what accept does, but stores nothing. */
export const createPreviewDispatch =
  (deps: PreviewDispatchDeps): PreviewDispatch =>
  async (adminId, request) => {
    const estimateFor = deps.beginEstimate();
    const draft = await draftContent(deps, request);
    const { drafted } = draft;
    const limit = drafted && deps.dispatches.tooLarge(entryOf(deps, adminId, request, drafted));
    const estimate = await estimateFor(request.recipients.length);
    return {
      refusals: [draft.ok ? [] : draft.refusals, limit === undefined ? [] : [{ outcome: 'too-large', limit } as const]].flat(),
      sharedAddresses: sharedAddresses(request.recipients),
      samples: drafted === undefined ? NO_SAMPLES : deps.renderSamples(drafted.content, request.recipients),
      ...(drafted && { templateVersion: drafted.templateVersion }),
      ...(estimate && { estimate }),
    };
  };

const entryOf = ({ hashes, clock }: PreviewDispatchDeps, adminId: string, request: DispatchRequest, drafted: DraftedContent) =>
  newDispatch({ dispatchId: 'preview', adminId, fingerprint: hashes.fingerprint(request) }, request, drafted, 0, clock());

const sharedAddresses = (recipients: readonly RecipientInput[]): SharedAddress[] => {
  const firstOf = new Map<string, string>();
  return recipients.flatMap(({ applyId, email }, index) => {
    const earlier = firstOf.get(email);
    if (earlier === undefined) firstOf.set(email, applyId);
    return earlier === undefined || earlier === applyId ? [] : [{ index, applyId, earlier }];
  });
};
