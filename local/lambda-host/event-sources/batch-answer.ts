import * as z from 'zod';

import type { InvokeResult } from '../child.ts';

const Answer = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish() }).nullish();

/** What a function made of a batch: all of it failed, or these items. */
export type BatchAnswer =
  { readonly kind: 'failed'; readonly reason: string } | { readonly kind: 'done'; readonly failures: readonly string[] };

const parse = (payload: string): unknown => {
  try {
    return JSON.parse(payload);
  } catch {
    // Not JSON at all: like any other malformed answer.
    return 'malformed';
  }
};

/**
 * Reads a function's answer as an event source mapping does: without ReportBatchItemFailures nobody looks at it;
 * with it, an answer that is malformed or names an item that was not in the batch fails the batch as a whole.
 */
export const readBatchAnswer = (result: InvokeResult, ids: readonly string[], reportsItems: boolean): BatchAnswer => {
  if (!result.ok) return { kind: 'failed', reason: `${result.errorType}: ${result.errorMessage}` };
  if (!reportsItems) return { kind: 'done', failures: [] };
  const answer = Answer.safeParse(parse(result.payload));
  if (!answer.success) return { kind: 'failed', reason: 'the list of failed items is malformed' };
  const failures = (answer.data?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier);
  const known = new Set(ids);
  if (failures.some((id) => !known.has(id))) return { kind: 'failed', reason: 'a failed item was not in the batch' };
  return { kind: 'done', failures };
};
