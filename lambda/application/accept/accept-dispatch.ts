import type { Dispatch } from '../../domain/dispatch/dispatch.ts';
import type { DispatchRequest } from '../../domain/dispatch/dispatch-request.ts';
import type { SendEstimate } from '../../domain/dispatch/send-estimate.ts';
import type { AcceptRepository, Fingerprint, FingerprintField, Hashes, KnownDispatch, StorageLimit } from '../ports/accept.ts';
import type { Clock } from '../ports/system.ts';
import { type ContentRefusal, draftContent, type DraftDeps } from './draft-content.ts';
import type { BeginEstimate } from './estimate.ts';
import { type DispatchName, newDispatch } from './new-dispatch.ts';

export interface AcceptDispatchDeps extends DraftDeps {
  readonly dispatches: AcceptRepository;
  readonly hashes: Hashes;
  readonly beginEstimate: BeginEstimate;
  readonly clock: Clock;
  /** How long the same content is not taken again under another key, unless that is asked for. */
  readonly repeatGuardSeconds: number;
}

/** Why a request was not taken. Nothing of it was stored, so its key stays free. */
export type Refusal =
  | ContentRefusal
  | { readonly outcome: 'too-large'; readonly limit: StorageLimit }
  /** The same was accepted a short time ago; its id is told to the admin who asked for it, and to no other. */
  | { readonly outcome: 'possible-duplicate'; readonly dispatchId?: string };

export type AcceptResult =
  | { readonly outcome: 'accepted'; readonly dispatch: Dispatch; readonly estimate?: SendEstimate }
  | { readonly outcome: 'replayed'; readonly dispatch: Dispatch }
  | { readonly outcome: 'conflict'; readonly fields: readonly FingerprintField[] }
  | Refusal;

export type AcceptDispatch = (adminId: string, idempotencyKey: string, request: DispatchRequest) => Promise<AcceptResult>;

/** Accepts a dispatch whole or not at all. A key that is known never gets past the comparison with what it named first. */
export const createAcceptDispatch = (deps: AcceptDispatchDeps): AcceptDispatch => {
  const { dispatches, hashes } = deps;

  return async (adminId, idempotencyKey, request) => {
    const dispatchId = hashes.dispatchId(adminId, idempotencyKey);
    const fingerprint = hashes.fingerprint(request);
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
  deps: AcceptDispatchDeps,
  request: DispatchRequest,
  name: DispatchName,
): Promise<
  Extract<AcceptResult, { outcome: 'accepted' }> | { readonly outcome: 'exists'; readonly known: KnownDispatch } | Refusal
> => {
  const draft = await draftContent(deps, request);
  if (!draft.ok) return draft.refusals[0];

  const estimateFor = deps.beginEstimate();
  const entry = newDispatch(name, request, draft.drafted, deps.repeatGuardSeconds, deps.clock());
  const result = await deps.dispatches.create(entry);
  switch (result.outcome) {
    case 'created': {
      const { dispatch } = entry;
      const estimate = await estimateFor(dispatch.total);
      return { outcome: 'accepted', dispatch, ...(estimate && { estimate }) };
    }
    case 'guarded': {
      const isOwn = result.by.adminId === name.adminId;
      return { outcome: 'possible-duplicate', ...(isOwn && { dispatchId: result.by.dispatchId }) };
    }
    case 'exists':
    case 'too-large':
      return result;
  }
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
