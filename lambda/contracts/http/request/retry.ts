import * as z from 'zod';

import { RETRYABLE, type Retryable } from '../../../domain/dispatch/command.ts';
import { RECIPIENT_STATUSES } from '../../../domain/recipient/recipient.ts';
import type { Fault } from '../problem.ts';
import { someApplyIds } from './apply-ids.ts';
import { FaultList, toRule } from './request-faults.ts';
import type { RequestRule } from './request-rules.ts';

/** The body of a request to send again to those whose mail failed, or of whom nobody knows. */
export const RetryRequest = z.strictObject({
  statuses: z.array(z.enum(RETRYABLE)).min(1, 'no-statuses' satisfies RequestRule),
  applyIds: someApplyIds().nullish(),
});

export type ParsedRetry =
  | { readonly ok: true; readonly statuses: readonly Retryable[]; readonly applyIds?: readonly string[] }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly total: number };

/** Reads such a body. */
export const parseRetryRequest = (body: unknown): ParsedRetry => {
  const parsed = RetryRequest.safeParse(body, { error: toRule });
  if (parsed.success) {
    const { statuses, applyIds } = parsed.data;
    return { ok: true, statuses: [...new Set(statuses)], ...(applyIds && { applyIds }) };
  }
  const faults = new FaultList();
  faults.addIssues(parsed.error.issues, []);
  return { ok: false, faults: faults.listed, total: faults.total };
};

/** What happened to each recipient that was named, and its state if it was looked at. */
export const RetriedView = z.object({
  recipients: z.array(
    z.object({
      applyId: z.string(),
      result: z.enum(['reopened', 'left-alone', 'no-such-recipient', 'unavailable']),
      status: z.enum(RECIPIENT_STATUSES).exactOptional(),
    }),
  ),
});
