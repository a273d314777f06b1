import type { Dice } from './dice.ts';
import type { Plan } from './plan.ts';
import type { Weather } from './scheduler.ts';

const MINUTE_MS = 60_000;

/** How long things take and when processes die, until the weather clears up. */
export const createWeather = (dice: Dice, { rates, calmAt, functionMs }: Plan, now: () => number): Weather => {
  const longestStallMs = functionMs > MINUTE_MS ? 10 * MINUTE_MS : MINUTE_MS;
  return {
    delay: () => {
      if (now() >= calmAt) return dice.whole(1, 20);
      if (dice.chance(rates.stall)) return dice.whole(3_000, longestStallMs);
      return dice.chance(rates.slow) ? dice.whole(100, 3_000) : dice.whole(1, 30);
    },
    crashes: () => now() < calmAt && dice.chance(rates.crash),
  };
};
