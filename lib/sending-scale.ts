import type { StageSettings } from './stages.ts';

/** How much of the send queue may be in the senders' hands at once. */
export interface SendingScale {
  readonly maxConcurrency: number;
  readonly batchSize: number;
}

/** Below this many mails a second two senders are plenty, and each gets a larger share. */
const LOW_RATE = 10;

/** More than 10 would need a batching window, which delays the first mail. */
const FULL_BATCH = 10;

/** Part of the rate that the senders share; the rest absorbs their clocks' differences. */
const USED_SHARE = 0.9;

/** A message that waits for its turn in a sender's hand must not use up the function's time. */
const PATIENCE_SECONDS = 10;

/** Fits concurrency and batch size to the configured send rate. */
export const sendingScale = ({
  maxSendRate,
  maxConcurrency,
}: Pick<StageSettings, 'maxSendRate' | 'maxConcurrency'>): SendingScale => {
  if (maxSendRate === 0 || maxSendRate >= LOW_RATE) return { maxConcurrency, batchSize: FULL_BATCH };
  const senders = 2;
  const pace = (maxSendRate * USED_SHARE) / senders;
  return { maxConcurrency: senders, batchSize: Math.max(1, Math.min(FULL_BATCH, Math.floor(pace * PATIENCE_SECONDS))) };
};
