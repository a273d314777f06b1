import * as z from 'zod';

import type { SendEstimate } from '../../../domain/dispatch/send-estimate.ts';
import { toIso } from '../../../domain/shared/instant.ts';

/** When a dispatch will have been sent, as things are when it is asked for. */
export const EstimateView = z.object({
  mailsPerSecond: z.number().nonnegative(),
  doneAt: z.iso.datetime({ precision: 3 }),
  /** Mails that the account's quota of 24 hours does not allow before it has room again. */
  waitingForNextWindow: z.int().nonnegative(),
});

/** Null: it cannot be told. */
export const toEstimateView = (estimate: SendEstimate | undefined): z.output<typeof EstimateView> | null =>
  estimate === undefined
    ? null
    : {
        mailsPerSecond: Math.round(estimate.mailsPerSecond * 100) / 100,
        doneAt: toIso(estimate.doneAt),
        waitingForNextWindow: estimate.waitingForNextWindow,
      };
