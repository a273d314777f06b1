import { setTimeout as sleep } from 'node:timers/promises';

/** Ctrl-C came. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted');
    this.name = 'Interrupted';
  }
}

/** How a wait ended, with what was seen last. */
export interface Waited<T> {
  readonly came: boolean;
  readonly last: T;
  readonly seconds: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** Waits that end at once, with `Interrupted`, when the signal comes. */
export const createWaiting = (signal: AbortSignal) => {
  const checkSignal = () => {
    if (signal.aborted) throw new Interrupted();
  };
  const pause = async (ms: number): Promise<void> => {
    checkSignal();
    // It rejects for no other reason than the signal.
    await sleep(ms, undefined, { signal }).catch(checkSignal);
  };
  return {
    /** @param ms milliseconds */
    pause,
    /** Asks again and again, less often each time, until the answer is good or the seconds are over. */
    until: async <T>(ask: () => Promise<T>, isGood: (answer: T) => boolean, seconds: number): Promise<Waited<T>> => {
      const startedAt = performance.now();
      for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 1.5, LONGEST_PAUSE_MS)) {
        checkSignal();
        const last = await ask();
        const passed = (performance.now() - startedAt) / 1000;
        const came = isGood(last);
        if (came || passed >= seconds) return { came, last, seconds: Math.round(passed * 10) / 10 };
        await pause(Math.min(ms, (seconds - passed) * 1000));
      }
    },
  };
};

/** The waits of one run. */
export type Waiting = ReturnType<typeof createWaiting>;
