import { type MessageAction, waitOrRequeue } from '../../domain/recipient/decide-message.ts';
import type { RecipientIn } from '../../domain/recipient/recipient.ts';
import type { WriteResult } from '../ports/recipients.ts';
import { type FinishedAttempt, type Group, LOOK_AGAIN_MS, type RecipientMessage } from '../send/finished-attempt.ts';
import type { SendDeps } from '../send/send-deps.ts';

/**
 * Puts the attempts of a chunk whose outcome was recorded as unclear on the ledger.
 * @returns those that stand there: their messages are not needed any more
 */
export const noteUnclearEnds = async (
  { ledger }: Pick<SendDeps, 'ledger'>,
  ends: readonly FinishedAttempt[],
  written: readonly WriteResult[],
): Promise<ReadonlySet<FinishedAttempt>> => {
  const unclear = ends.filter(({ next }, i) => next.status === 'PROCESSING' && written[i] === 'written');
  if (unclear.length === 0) return new Set();
  const stands = await ledger.add(
    unclear.map(({ group, claimed: { recipient } }) => ({
      key: group.key,
      lease: recipient.lease.token,
      dueAt: recipient.lease.until,
    })),
  );
  return new Set(unclear.filter((_, i) => stands[i] === true));
};

/** A lease that ended with the outcome open, as after the death of a worker, goes on the ledger; its message is not needed then. */
export const noteExpiredLease = async (
  { ledger, policy, clock }: SendDeps,
  { key }: Group,
  { lease }: RecipientIn<'PROCESSING'>,
): Promise<(message: RecipientMessage) => MessageAction> => {
  const [stands] = await ledger.add([{ key, lease: lease.token, dueAt: lease.until }]);
  if (stands === true) return () => ({ do: 'delete' });
  return (message) => waitOrRequeue(message, clock() + LOOK_AGAIN_MS, policy.maxReceiveCount);
};
