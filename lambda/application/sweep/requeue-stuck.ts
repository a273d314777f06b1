import type { SendQueue } from '../ports.ts';
import type { Visit } from '../visit-dispatch.ts';

/** Re-enqueued per visit even when the queue seems to hold everything: its counts are approximate. */
const AT_LEAST = 10;
const AT_MOST = 5_000;

/** The longest overdue first, no more than the queue seems to be missing: a second message does no harm, 50,000 of them would. */
export const requeueStuck = async (
  { sendQueue }: { readonly sendQueue: SendQueue },
  visits: readonly Visit[],
  waiting: number,
): Promise<number> => {
  const stuck = visits.filter((visit) => visit.stuck.length > 0);
  if (stuck.length === 0) return 0;
  const missing = waiting - (await sendQueue.depth());
  let count = 0;
  for (const visit of stuck) {
    const keys = visit.stuck.slice(0, Math.min(AT_MOST, Math.max(missing, AT_LEAST)));
    const sent = await sendQueue.send(keys.map((key) => ({ key, delaySeconds: 0 })));
    count += sent.filter(Boolean).length;
  }
  return count;
};
