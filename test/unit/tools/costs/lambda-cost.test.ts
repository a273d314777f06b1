import { describe, expect, it } from 'vitest';

import { pacedCost, plannedCost, waitOfCall, waitOfMail, workCost } from '../../../../tools/costs/lambda-cost.ts';

/** 1,000 mails in 100 invocations that ran 20 s together, 4 s of them on the processor. */
const TIME = { invocations: 100, milliseconds: 20_000, processorMilliseconds: 4_000, memoryMegabytes: 512 };

describe('a million mails', () => {
  it('cost what a function waited, and its processor time on the part of a processor that its memory brings', () => {
    // A whole processor at 1,769 MB: 20 ms a mail at 1.7275 GB.
    const whole = workCost(TIME, 1_000, 16, 1_769);
    expect(whole.gigabyteSeconds).toBeCloseTo(20_000 * (1_769 / 1_024));
    expect(whole.requests).toBe(100_000);
    expect(whole.dollars).toBeCloseTo(20_000 * (1_769 / 1_024) * 0.0000133334 + 0.02);

    // A fifth of a processor: 16 ms of waiting, and 4 ms become 20.
    expect(workCost(TIME, 1_000, 16, 1_769 / 5).gigabyteSeconds).toBeCloseTo(36_000 * (1_769 / 5 / 1_024));
  });

  it('have functions wait for each mail, or for each call whatever it brings', () => {
    expect(waitOfMail(TIME, 1_000)).toBe(16);
    expect(waitOfCall(TIME)).toBe(160);
  });

  it('cost all of the time in which senders kept to a pace', () => {
    expect(pacedCost(TIME, 1_000, 256).gigabyteSeconds).toBeCloseTo(20_000 / 4);
  });

  it.each([
    ['more senders than work: all of their time', 40, 100, 0.4],
    // A tenth of 0.22 s, and 4 ms of half a processor.
    ['work that fills their time: the work', 1, 100, 0.022 + 0.008],
  ])('cost of planned senders, with %s', (_name, concurrency, rate, seconds) => {
    const memoryMegabytes = 1_769 / 2;
    const cost = plannedCost(TIME, 1_000, rate, { concurrency, batchSize: 10, memoryMegabytes });

    expect(cost.gigabyteSeconds).toBeCloseTo(seconds * 1e6 * (memoryMegabytes / 1_024));
    expect(cost.requests).toBe(100_000);
  });
});
