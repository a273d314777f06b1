/** Chance that can be repeated: the same seed throws the same. */
export interface Dice {
  /** From 0 up to 1. */
  readonly next: () => number;
  readonly chance: (probability: number) => boolean;
  /** A number from `low` up to `high`. */
  readonly between: (low: number, high: number) => number;
  /** A whole number from `low` to `high`, both included. */
  readonly whole: (low: number, high: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
}

/** Mulberry32: small, quick, and good enough to shuffle schedules. */
export const createDice = (seed: number): Dice => {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    chance: (probability) => probability > 0 && next() < probability,
    between: (low, high) => low + next() * (high - low),
    whole,
    pick: (list) => {
      const picked = list[whole(0, list.length - 1)];
      if (picked === undefined) throw new RangeError('there is nothing to pick from');
      return picked;
    },
  };
};
