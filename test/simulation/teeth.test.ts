import { env } from 'node:process';

import { describe, expect, it } from 'vitest';

import { runSchedules, seedsFrom } from './run.ts';
import { RULES } from './sabotage.ts';

/** The rarest needs some hundreds. */
const AT_MOST = 5_000;
const LIMIT_MS = 600_000;

describe.skipIf(env['SIMULATION_SEED'] !== undefined)('the simulation notices when', () => {
  it.each(RULES)(
    '$without',
    async ({ sabotage, theme }) => {
      const { broken } = await runSchedules(seedsFrom(1, AT_MOST), { sabotage, theme, stopsAtFirst: true });

      expect(broken.length, `not noticed in ${AT_MOST} schedules`).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
