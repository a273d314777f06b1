import { env, stdout } from 'node:process';

import { describe, expect, it } from 'vitest';

import { describeBroken, runSchedules, seedsFrom, traceSchedule } from './run.ts';

const IS_FULL = env['TEST_FULL'] === '1';
const SCHEDULES = IS_FULL ? 3_000 : 1_000;
const NEW_SCHEDULES = IS_FULL ? 1_000 : 100;
const seed = env['SIMULATION_SEED'];
const LIMIT_MS = 600_000;

describe.runIf(seed !== undefined)('the schedule of SIMULATION_SEED', () => {
  it('keeps every promise', async () => {
    const { lines, violations } = await traceSchedule(Number(seed));
    stdout.write(`${lines.join('\n')}\n`);

    expect(violations).toEqual([]);
  });
});

describe.skipIf(seed !== undefined)('senders, relay, feedback, tasks, sweeper and people together', () => {
  it(
    `keep every promise in ${SCHEDULES} schedules of crashes, lost answers, late events and redrives`,
    async () => {
      const { broken, reached } = await runSchedules(seedsFrom(1, SCHEDULES));

      expect(broken, describeBroken(broken)).toEqual([]);
      // A simulation in which nothing goes wrong would prove nothing.
      for (const what of [
        ...['PENDING', 'SENT', 'FAILED', 'UNKNOWN', 'CANCELLED'].map((status) => `recipient ${status}`),
        ...['COMPLETED', 'STOPPED', 'CANCELLED'].map((status) => `dispatch ${status}`),
        ...['sent', 'failed', 'retry', 'given-back', 'unclear', 'unsent'].map((outcome) => `attempt ${outcome}`),
        ...['redrive', 'redrive of a stray', 'duplicate', 'death of a sender'],
      ])
        expect(reached.get(what) ?? 0, what).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it(
    'keep every promise in schedules that nobody has seen before',
    async () => {
      const first = Math.floor(Math.random() * 2 ** 31);
      const { broken } = await runSchedules(seedsFrom(first, NEW_SCHEDULES));

      expect(broken, describeBroken(broken)).toEqual([]);
    },
    LIMIT_MS,
  );

  it('do the same again under the same seed', async () => {
    const [first, second] = [await traceSchedule(7), await traceSchedule(7)];

    expect(first.lines.length).toBeGreaterThan(50);
    expect(second.lines).toEqual(first.lines);
  });
});
