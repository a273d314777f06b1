import * as z from 'zod';

import { RECIPIENT_STATUSES } from '../../../domain/recipient/recipient.ts';
import type { Settlement } from '../../../domain/recipient/settlement.ts';
import type { Fault } from '../problem.ts';
import { someApplyIds } from './apply-ids.ts';
import { breaks, FaultList, headerText, toRule } from './request-faults.ts';
import { REASON_BYTES, type RequestRule } from './request-rules.ts';

const WORD = {
  as: z.enum(['sent', 'failed']),
  note: headerText(REASON_BYTES, 'reason-length').refine((note) => note.trim() !== '', 'note-empty' satisfies RequestRule),
};

/** The body of a request to settle by hand what became of a mail; the note says how the person knows. */
export const SettleRequest = z.strictObject(WORD);

/** The same about several recipients, or about all of a dispatch that are UNKNOWN. */
export const SettleManyRequest = z
  .strictObject({ ...WORD, applyIds: someApplyIds().nullish(), all: z.literal(true).nullish() })
  .superRefine(({ applyIds, all }, ctx) => {
    if ((all === true) === Boolean(applyIds)) breaks(ctx, 'apply-ids-or-all', ['applyIds']);
  });

export type ParsedSettle =
  | { readonly ok: true; readonly word: Pick<Settlement, 'as' | 'note'> }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly total: number };

/** Reads the body about one recipient. */
export const parseSettleRequest = (body: unknown): ParsedSettle => {
  const parsed = SettleRequest.safeParse(body, { error: toRule });
  return parsed.success ? { ok: true, word: parsed.data } : refused(parsed.error);
};

/** Without `applyIds` it is about all that are UNKNOWN. */
export type ParsedSettleMany = ParsedSettle & { readonly applyIds?: readonly string[] };

/** Reads the body about several recipients. */
export const parseSettleManyRequest = (body: unknown): ParsedSettleMany => {
  const parsed = SettleManyRequest.safeParse(body, { error: toRule });
  if (!parsed.success) return refused(parsed.error);
  const { as, note, applyIds } = parsed.data;
  return { ok: true, word: { as, note }, ...(applyIds && { applyIds }) };
};

const refused = ({ issues }: z.ZodError): Extract<ParsedSettle, { ok: false }> => {
  const faults = new FaultList();
  faults.addIssues(issues, []);
  return { ok: false, faults: faults.listed, total: faults.total };
};

/** What happened to each recipient that was named, and its state if it was looked at. */
export const SettledView = z.object({
  recipients: z.array(
    z.object({
      applyId: z.string(),
      result: z.enum(['settled', 'left-alone', 'no-such-recipient', 'unavailable']),
      status: z.enum(RECIPIENT_STATUSES).exactOptional(),
    }),
  ),
});
