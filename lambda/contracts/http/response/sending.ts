import * as z from 'zod';

import type { Sending } from '../../../domain/sending/pause.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import type { Fault } from '../problem.ts';
import { FaultList, headerText, toRule } from '../request/request-faults.ts';
import { REASON_BYTES, type RequestRule } from '../request/request-rules.ts';

/** The body of a request to pause or resume all sending. */
export const SendingRequest = z
  .strictObject({ paused: z.boolean(), reason: headerText(REASON_BYTES, 'reason-length').nullish() })
  .refine(({ paused, reason }) => paused || !reason, { error: 'not-when-resuming' satisfies RequestRule, path: ['reason'] });

export type ParsedSending =
  | { readonly ok: true; readonly query: { readonly paused: boolean; readonly reason?: string } }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly total: number };

/** Reads such a body. A reason absent, null or empty is none. */
export const parseSendingRequest = (body: unknown): ParsedSending => {
  const parsed = SendingRequest.safeParse(body, { error: toRule });
  if (parsed.success) {
    const { paused, reason } = parsed.data;
    return { ok: true, query: { paused, ...(reason && { reason }) } };
  }
  const faults = new FaultList();
  faults.addIssues(parsed.error.issues, []);
  return { ok: false, faults: faults.listed, total: faults.total };
};

const Iso = z.iso.datetime({ precision: 3 });

/** Whether mails are sent, as the API shows it. */
export const SendingView = z.union([
  z.object({ paused: z.literal(false), since: Iso.exactOptional() }),
  /** Until an operator resumes. */
  z.object({
    paused: z.literal(true),
    by: z.literal('operator'),
    who: z.string(),
    reason: z.string().exactOptional(),
    since: Iso,
  }),
  /** From `until` on the service tries by itself whether the trouble is over. */
  z.object({ paused: z.literal(true), by: z.literal('service'), code: z.string(), since: Iso, until: Iso }),
]);
export type SendingView = z.output<typeof SendingView>;

export const toSendingView = ({ pause, resumedAt }: Sending): SendingView => {
  switch (pause?.by) {
    case undefined:
      return { paused: false, ...(resumedAt !== undefined && { since: toIso(resumedAt) }) };
    case 'operator': {
      const { by, who, reason, since } = pause;
      return { paused: true, by, who, ...(reason !== undefined && { reason }), since: toIso(since) };
    }
    case 'service': {
      const { by, code, since, until } = pause;
      return { paused: true, by, code, since: toIso(since), until: toIso(until) };
    }
  }
};
