import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { STATEMENTS_PER_BATCH } from '../../lambda/domain/sending/pace.ts';
import { batchSizeFor, faultsOfSenders, senderScale, senderSpeed } from '../../lib/config/scale/sender-scale.ts';
import * as derived from '../../lib/config/scale/service-scale.ts';
import { readStage } from '../../lib/config/stages.ts';
import { all, environmentOf, GIVEN, one, plain, synthesize } from './synthesized.ts';

type Given = Omit<derived.ScaleSettings, 'rateShare'>;
const serviceScale = (given: Given) => derived.serviceScale({ rateShare: 0.9, ...given });
const localScale = (given: Given) => derived.localScale({ rateShare: 0.9, ...given });
const faultsOfScale = (given: Given) => derived.faultsOfScale({ rateShare: 0.9, ...given });

const RATES = [14, 100, 500, 2_000, 5_000];
const ANY_RATE = fc.double({ min: 0.1, max: 10_000, noNaN: true });

describe('the senders of a rate', () => {
  it.each([
    // Two of the smallest for a slow account; a batch is two seconds of one sender's pace.
    [0.2, { concurrency: 2, parallelCalls: 1, batchSize: 1, memoryMegabytes: 256 }],
    [1, { concurrency: 2, parallelCalls: 1, batchSize: 1, memoryMegabytes: 256 }],
    [5, { concurrency: 2, parallelCalls: 2, batchSize: 4, memoryMegabytes: 256 }],
    [14, { concurrency: 2, parallelCalls: 6, batchSize: 10, memoryMegabytes: 256 }],
  ])('of %d mails/s are two small ones', (maxSendRate, expected) => {
    expect(serviceScale({ maxSendRate }).sender).toMatchObject(expected);
  });

  it('reach nine tenths of any rate with a third of their time to spare', () => {
    fc.assert(
      fc.property(ANY_RATE, (maxSendRate) => {
        const { rate, sender } = serviceScale({ maxSendRate });

        expect(rate).toBeCloseTo(0.9 * maxSendRate);
        expect(sender.mailsPerSecond).toBeGreaterThanOrEqual(rate * 1.3);
      }),
    );
  });

  it('are fewer when the stage uses a smaller part of the rate', () => {
    expect(derived.serviceScale({ maxSendRate: 500, rateShare: 0.1 }).sender.concurrency).toBeLessThan(
      serviceScale({ maxSendRate: 500 }).sender.concurrency,
    );
  });

  it('never take more than two seconds of their pace, nor more than SQS hands over without a window', () => {
    fc.assert(
      fc.property(ANY_RATE, (maxSendRate) => {
        const { rate, sender } = serviceScale({ maxSendRate });

        expect(sender.batchSize).toBeLessThanOrEqual(10);
        expect(sender.batchSize).toBeLessThanOrEqual(Math.max(1, (rate / sender.concurrency) * 2));
        expect(sender.parallelCalls).toBeLessThanOrEqual(STATEMENTS_PER_BATCH);
      }),
    );
  });

  it('grow with the rate, and are never fewer than an event source starts', () => {
    fc.assert(
      fc.property(ANY_RATE, ANY_RATE, (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((maxSendRate) => serviceScale({ maxSendRate }));

        expect(low?.sender.concurrency).toBeGreaterThanOrEqual(2);
        expect(high?.sender.concurrency).toBeGreaterThanOrEqual(low?.sender.concurrency ?? 0);
      }),
    );
  });

  it('are as fast as SES answers, the writes around it, and their part of a processor', () => {
    // Ten calls of 200 ms at once, 20 ms for their writes, and 3 ms of a whole processor for each.
    expect(senderSpeed(1_769, 10)).toBeCloseTo(10 / 0.25);
    expect(senderSpeed(10_240, 10)).toBeCloseTo(10 / 0.25);
    expect(senderSpeed(1_769 / 3, 10)).toBeCloseTo(10 / 0.31);
  });
});

describe('settings that are given', () => {
  it('take the place of what is derived, and the memory follows', () => {
    expect(senderScale(450, { maxConcurrency: 40, parallelCalls: 5 })).toMatchObject({ concurrency: 40, parallelCalls: 5 });
    expect(senderScale(450, { maxConcurrency: 60 }).memoryMegabytes).toBe(256);
    expect(senderScale(450, { maxConcurrency: 18 }).memoryMegabytes).toBe(1_769);
    expect(senderScale(450, { parallelCalls: 2 }).concurrency).toBeGreaterThan(senderScale(450, {}).concurrency);
  });

  it.each<[string, number, Record<string, number>, string]>([
    ['too few senders', 500, { maxConcurrency: 2 }, 'maxConcurrency (2) × parallelCalls (10) can send 80 mails/s'],
    ['senders with too few calls', 500, { maxConcurrency: 50, parallelCalls: 1 }, 'maxConcurrency (50) × parallelCalls (1)'],
    ['so many that each has hardly a mail to send', 14, { maxConcurrency: 13 }, 'give at most 12'],
    ['calls for which Lambda has not enough copies', 10_000, { parallelCalls: 1 }, 'parallelCalls (1) would need'],
  ])('are refused when they contradict the rate: %s', (_name, maxSendRate, given, expected) => {
    expect(faultsOfScale({ maxSendRate, ...given })).toEqual([expect.stringContaining(expected)]);
    expect(() => readStage('prod', (key) => ({ ...GIVEN, maxSendRate, ...given })[key])).toThrow(expected);
  });

  it('are never refused when they are what would be derived', () => {
    fc.assert(
      fc.property(ANY_RATE, (maxSendRate) => {
        const { rate, sender } = serviceScale({ maxSendRate });
        expect(faultsOfSenders(rate, {})).toEqual([]);
        expect(faultsOfSenders(rate, { maxConcurrency: sender.concurrency })).toEqual([]);
      }),
    );
  });
});

describe('feedback', () => {
  it('keeps up with three events of every mail', () => {
    fc.assert(
      fc.property(ANY_RATE, (maxSendRate) => {
        const { rate, feedback } = serviceScale({ maxSendRate });
        // A batch of ten: 40 ms of the table's time, and 6 ms of a whole processor for each event.
        const share = Math.min(1, feedback.memoryMegabytes / 1_769);
        const perCopy = 10 / (0.04 + 0.06 / share);

        expect(feedback.concurrency * perCopy).toBeGreaterThan(3 * rate);
        expect(feedback.concurrency).toBeLessThanOrEqual(1_000);
      }),
    );
  });
});

describe('the table', () => {
  it.each([14, 100, 500])('takes %d mails/s as it is new', (maxSendRate) => {
    expect(serviceScale({ maxSendRate }).warm).toBeUndefined();
    expect(
      one(synthesize('prod', { maxSendRate }).storage, 'AWS::DynamoDB::GlobalTable', 'Dispatches').Properties,
    ).not.toHaveProperty('WarmThroughput');
  });

  it.each([2_000, 5_000])('is made ready for the seven write units of each of %d mails/s', (maxSendRate) => {
    const { Properties } = one(synthesize('prod', { maxSendRate }).storage, 'AWS::DynamoDB::GlobalTable', 'Dispatches');

    const { WriteUnitsPerSecond, ReadUnitsPerSecond } = Properties['WarmThroughput'] as Record<string, number>;
    expect(WriteUnitsPerSecond).toBeGreaterThanOrEqual(0.9 * maxSendRate * 7);
    expect(WriteUnitsPerSecond).toBeLessThan(0.9 * maxSendRate * 7 + 1_000);
    expect(ReadUnitsPerSecond).toBeGreaterThanOrEqual(12_000);
  });

  it('keeps what it was once given when the rate falls, and gets nothing when that is asked for', () => {
    expect(serviceScale({ maxSendRate: 14, warmWriteUnits: 32_000 }).warm).toEqual({ writes: 32_000, reads: 19_000 });
    expect(serviceScale({ maxSendRate: 5_000, warmWriteUnits: 0 }).warm).toBeUndefined();
  });
});

describe.each(RATES)('a stage for %d mails/s', (maxSendRate) => {
  const { dispatch } = synthesize('prod', { maxSendRate });
  const scale = serviceScale({ maxSendRate });
  const functionOf = (name: string) => one(dispatch, 'AWS::Lambda::Function', `${name}Function`).Properties;

  it('reserves for each function as many copies as its event sources may start', () => {
    const most = new Map<string, number>();
    for (const { Properties } of all(dispatch, 'AWS::Lambda::EventSourceMapping')) {
      const { MaximumConcurrency } = (Properties['ScalingConfig'] ?? {}) as { MaximumConcurrency?: number };
      const isOfQueue = !('StartingPosition' in Properties);
      expect(isOfQueue).toBe(MaximumConcurrency !== undefined);
      const name = plain(Properties['FunctionName']);
      most.set(name, (most.get(name) ?? 0) + (MaximumConcurrency ?? 0));
    }
    const reserved = Object.entries(dispatch.findResources('AWS::Lambda::Function')).map(
      ([id, { Properties }]) => [id, (Properties as Record<string, unknown>)['ReservedConcurrentExecutions']] as const,
    );

    expect([...most.values()].filter((copies) => copies > 0)).toHaveLength(3);
    for (const [id, copies] of reserved) {
      const needed = most.get(id) ?? 0;
      if (needed > 0) expect(copies, id).toBeGreaterThanOrEqual(needed);
    }
  });

  it('asks the account for what it reserves, and leaves the rest of the functions what they need', () => {
    const reserved = all(dispatch, 'AWS::Lambda::Function').reduce(
      (sum, { Properties }) => sum + Number(Properties['ReservedConcurrentExecutions'] ?? 0),
      0,
    );

    expect(scale.lambdaConcurrency).toBeGreaterThanOrEqual(reserved + 100);
  });

  it('gives the functions the memory that follows from the rate', () => {
    expect(functionOf('SendRecipients')['MemorySize']).toBe(scale.sender.memoryMegabytes);
    expect(functionOf('ApplyFeedback')['MemorySize']).toBe(scale.feedback.memoryMegabytes);
  });

  it('tells the senders how many they are', () => {
    expect(environmentOf(dispatch, 'SendRecipients')).toMatchObject({
      MAX_CONCURRENCY: String(scale.sender.concurrency),
      PARALLEL_CALLS: String(scale.sender.parallelCalls),
      MAX_SEND_RATE: String(maxSendRate),
    });
  });

  it('tells the function that accepts what the senders can send, and not a mail more', () => {
    const ceiling = Number(environmentOf(dispatch, 'AcceptDispatch')['SENDER_CEILING']);

    expect(ceiling).toBeLessThanOrEqual(scale.sender.mailsPerSecond);
    expect(ceiling).toBeGreaterThan(scale.rate);
  });

  it('follows the stream with as many copies for a shard as its changes need', () => {
    const factorOf = (mapping: string) =>
      one(dispatch, 'AWS::Lambda::EventSourceMapping', mapping).Properties['ParallelizationFactor'];
    const shards = Math.ceil((scale.warm?.writes ?? 4_000) / 1_000);

    expect(factorOf('Outbox')).toBe(scale.relayFactor);
    expect(factorOf('Progress')).toBe(scale.progressFactor);
    // Five changes of a mail, 500 a second for a copy; and no factor that Lambda does not know.
    expect(scale.progressFactor * shards * 500).toBeGreaterThan(0.9 * maxSendRate * 5);
    expect(Math.max(scale.relayFactor, scale.progressFactor)).toBeLessThanOrEqual(10);
  });
});

describe('the local stack', () => {
  it('has few processes, whatever the rate, and may send 1,000 mails/s', () => {
    const { sender, feedback, taskWorkers } = localScale({ maxSendRate: 1_000 });

    expect(sender).toMatchObject({ concurrency: 5, parallelCalls: 10, batchSize: 10 });
    expect(sender.mailsPerSecond).toBeGreaterThan(900);
    expect(feedback.concurrency + taskWorkers).toBeLessThanOrEqual(6);
    expect(readStage('local', () => undefined)).toMatchObject({ maxSendRate: 1_000 });
  });

  it('takes other numbers without checks: its machine is the limit', () => {
    const { dispatch } = synthesize('local', { maxConcurrency: 2, parallelCalls: 3, maxSendRate: 2_000 });

    expect(environmentOf(dispatch, 'SendRecipients')).toMatchObject({ MAX_CONCURRENCY: '2', PARALLEL_CALLS: '3' });
  });

  it('fits its batches to the rate by the same rule as stages on AWS', () => {
    expect(localScale({ maxSendRate: 2 }).sender.batchSize).toBe(batchSizeFor(1.8, 5));
  });
});
