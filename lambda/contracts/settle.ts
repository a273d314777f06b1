import * as z from 'zod';

import type { Settlement } from '../domain/settlement.ts';
import type { Fault } from './problem.ts';
import { FaultList, headerText, toRule } from './request-faults.ts';
import { REASON_BYTES, type RequestRule } from './request-rules.ts';

/** The body of a request to settle by hand what became of a mail; the note says how the person knows. */
export const SettleRequest = z.strictObject({
  as: z.enum(['sent', 'failed']),
  note: headerText(REASON_BYTES, 'reason-length').refine((note) => note.trim() !== '', 'note-empty' satisfies RequestRule),
});

export type ParsedSettle =
  | { readonly ok: true; readonly word: Pick<Settlement, 'as' | 'note'> }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly total: number };

/** Reads such a body. */
export const parseSettleRequest = (body: unknown): ParsedSettle => {
  const parsed = SettleRequest.safeParse(body, { error: toRule });
  if (parsed.success) return { ok: true, word: parsed.data };
  const faults = new FaultList();
  faults.addIssues(parsed.error.issues, []);
  return { ok: false, faults: faults.listed, total: faults.total };
};
