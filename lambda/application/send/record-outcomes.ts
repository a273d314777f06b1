import type { WriteResult } from '../ports/recipients.ts';
import { recordLateAnswer } from '../unclear/late-answer.ts';
import { type FinishedAttempt, toWrite } from './finished-attempt.ts';
import type { SendDeps } from './send-deps.ts';

const RETRY_WRITE_MS = 200;

/** Writes until each outcome stands or is disowned, or time runs out: what SES answered must not be lost lightly. */
export const recordOutcomes = async (
  deps: SendDeps,
  ends: readonly FinishedAttempt[],
  remainingMs: () => number,
): Promise<WriteResult[]> => {
  const { recipients, sleep, observe } = deps;
  const results: WriteResult[] = ends.map(() => 'unavailable');
  for (;;) {
    const open = [...ends.entries()].filter(([i]) => results[i] === 'unavailable');
    // Whatever the table says, SES has answered: giving up here would lose that, so the write is repeated.
    const written = open.length === 0 ? [] : await recipients.writeAll(open.map(([, end]) => toWrite(end))).catch(() => []);
    for (const [n, [i]] of open.entries()) results[i] = written[n] ?? 'unavailable';
    if (!results.includes('unavailable') || remainingMs() < RETRY_WRITE_MS * 5) break;
    await sleep(RETRY_WRITE_MS);
  }
  for (const [i, end] of ends.entries()) {
    if (results[i] === 'written') continue;
    observe({ type: 'not-recorded', key: end.group.key });
    if (results[i] === 'conflict') await recordLate(deps, end);
  }
  return results;
};

const recordLate = async ({ recipients, clock, observe }: SendDeps, { group: { key }, claimed, answer }: FinishedAttempt) => {
  if (answer.kind !== 'accepted') return;
  const { round, attemptCount: n, lease } = claimed.recipient;
  const confirmation = { round, n, lease: lease.token, messageId: answer.messageId, sentAt: clock() };
  const outcome = await recordLateAnswer(recipients, key, confirmation);
  if (outcome !== undefined) observe({ type: outcome === 'duplicate' ? 'duplicate' : 'late', key, round, attempt: n });
};
