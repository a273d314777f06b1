import type { DispatchContent } from '../domain/content.ts';
import type { Dispatch } from '../domain/dispatch.ts';
import type { DispatchRequest } from '../domain/dispatch-request.ts';
import { shardCount } from '../domain/shards.ts';
import type {
  AcceptRepository,
  CheckContent,
  Digests,
  Fingerprint,
  FingerprintField,
  KnownDispatch,
  NewDispatch,
  RecipientFault,
  StorageLimit,
  TemplateFault,
  TemplateSource,
} from './accept-ports.ts';
import type { Clock } from './ports.ts';

export interface AcceptDispatchDeps {
  readonly dispatches: AcceptRepository;
  readonly templates: TemplateSource;
  readonly digests: Digests;
  readonly checkContent: CheckContent;
  readonly clock: Clock;
  /** As it goes into the header. */
  readonly from: string;
  readonly replyTo: string | undefined;
}

/** Why a request was not taken. Nothing of it was stored, so its key stays free. */
export type Refusal =
  | { readonly outcome: 'unknown-scenario' }
  | { readonly outcome: 'invalid-template'; readonly faults: readonly TemplateFault[] }
  | { readonly outcome: 'cannot-render'; readonly faults: readonly RecipientFault[]; readonly total: number }
  | { readonly outcome: 'too-costly' }
  | { readonly outcome: 'too-large'; readonly limit: StorageLimit };

export type AcceptResult =
  | { readonly outcome: 'accepted'; readonly dispatch: Dispatch }
  | { readonly outcome: 'replayed'; readonly dispatch: Dispatch }
  | { readonly outcome: 'conflict'; readonly fields: readonly FingerprintField[] }
  | Refusal;

export type AcceptDispatch = (adminId: string, idempotencyKey: string, request: DispatchRequest) => Promise<AcceptResult>;

/** Accepts a dispatch whole or not at all. A key that is known never gets past the comparison with what it named first. */
export const createAcceptDispatch = (deps: AcceptDispatchDeps): AcceptDispatch => {
  const { dispatches, digests } = deps;

  return async (adminId, idempotencyKey, request) => {
    const dispatchId = digests.dispatchId(adminId, idempotencyKey);
    const fingerprint = digests.fingerprint(request);
    const known = await dispatches.find(dispatchId);
    if (known !== undefined) return compare(known, fingerprint);

    const taken = await take(deps, request, { dispatchId, adminId, fingerprint });
    if (taken.outcome === 'accepted') return taken;
    if (taken.outcome === 'exists') return compare(taken.known, fingerprint);
    // The same request may have been taken meanwhile, with a template that is gone by now: what was taken is not refused.
    const meanwhile = await dispatches.find(dispatchId);
    return meanwhile === undefined ? taken : compare(meanwhile, fingerprint);
  };
};

const take = async (
  { dispatches, templates, checkContent, clock, from, replyTo }: AcceptDispatchDeps,
  request: DispatchRequest,
  name: Pick<Dispatch, 'dispatchId' | 'adminId'> & Pick<NewDispatch, 'fingerprint'>,
): Promise<
  Extract<AcceptResult, { outcome: 'accepted' }> | { readonly outcome: 'exists'; readonly known: KnownDispatch } | Refusal
> => {
  const { scenarioId, recruitId, recipients, subject, variables, isTest, unsubscribeUrl } = request;
  const template = await templates.find(scenarioId);
  if (template === undefined) return { outcome: 'unknown-scenario' };

  const content: DispatchContent = {
    template,
    variables,
    from,
    ...(subject !== undefined && { subject }),
    ...(replyTo !== undefined && { replyTo }),
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
  };
  const checked = checkContent(content, recipients);
  if (checked.outcome !== 'fine') return checked;

  const dispatch: Dispatch = {
    dispatchId: name.dispatchId,
    adminId: name.adminId,
    scenarioId,
    recruitId,
    total: recipients.length,
    shards: shardCount(recipients.length),
    isTest,
    status: 'ACCEPTED',
    generation: 0,
    createdAt: clock(),
  };
  const result = await dispatches.create({ dispatch, fingerprint: name.fingerprint, content, recipients });
  return result.outcome === 'created' ? { outcome: 'accepted', dispatch } : result;
};

const compare = ({ dispatch, fingerprint, fieldHashes }: KnownDispatch, asked: Fingerprint): AcceptResult =>
  // Without a stored fingerprint nobody can say that the requests are the same.
  fingerprint === asked.whole
    ? { outcome: 'replayed', dispatch }
    : { outcome: 'conflict', fields: differences(fieldHashes, asked.fields) };

const FIELDS = [
  'scenarioId',
  'recruitId',
  'recipients[].applyId',
  'recipients[].email',
  'recipients[].variables',
  'subject',
  'variables',
  'isTest',
  'unsubscribe',
] as const satisfies readonly FingerprintField[];

/** Of other recipients the addresses and variables differ as well; that says nothing more. */
const OF_RECIPIENTS: ReadonlySet<FingerprintField> = new Set(['recipients[].email', 'recipients[].variables']);

const differences = (stored: KnownDispatch['fieldHashes'], asked: Fingerprint['fields']): FingerprintField[] => {
  const differ = FIELDS.filter((field) => stored[field] !== undefined && stored[field] !== asked[field]);
  return differ.includes('recipients[].applyId') ? differ.filter((field) => !OF_RECIPIENTS.has(field)) : differ;
};
