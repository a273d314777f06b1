import type { Clock, Sleep } from '../../lambda/application/ports/system.ts';

/** The instant at which tests begin. */
export const T0 = Date.parse('2026-03-02T09:00:00.000Z');

/** A clock that moves only when told to, or when somebody sleeps by it. */
export interface FakeClock {
  readonly now: Clock;
  readonly sleep: Sleep;
  readonly advance: (ms: number) => void;
  readonly to: (instant: number) => void;
  /** Every sleep so far, in milliseconds. */
  readonly slept: readonly number[];
}

export const createFakeClock = (start = T0): FakeClock => {
  let now = start;
  const slept: number[] = [];
  return {
    now: () => now,
    sleep: (ms) => {
      slept.push(ms);
      now += ms;
      return Promise.resolve();
    },
    advance: (ms) => {
      now += ms;
    },
    to: (instant) => {
      now = Math.max(now, instant);
    },
    slept,
  };
};
