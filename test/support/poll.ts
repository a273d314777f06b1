import { setTimeout as sleep } from 'node:timers/promises';

/** A limit that only a failure reaches, however busy the machine. */
const PATIENCE_MS = 400_000;

/** Asks until the answer is as wanted, and fails with the last answer when it never is. */
export const poll = async <T>(ask: () => Promise<T>, wanted: (answer: T) => boolean, patienceMs = PATIENCE_MS): Promise<T> => {
  const since = Date.now();
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    const waitedMs = Date.now() - since;
    if (waitedMs > patienceMs) throw new Error(`never came about; last seen: ${JSON.stringify(answer)}`);
    // Less often after a while: asking takes time from what is waited for.
    await sleep(Math.min(500, 100 + waitedMs / 20));
  }
};
