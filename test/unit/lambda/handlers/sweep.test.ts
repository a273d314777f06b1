import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { AccountReport } from '../../../../lambda/application/send/rate/inspect-account.ts';
import type { OrphanReport } from '../../../../lambda/application/sweep/delete-orphans.ts';
import type { SweepReport } from '../../../../lambda/application/sweep/sweep.ts';
import { createHandler, type SweepHandlerDeps } from '../../../../lambda/handlers/sweep/handler.ts';
import { createOrphanObserver } from '../../../../lambda/handlers/sweep/signals.ts';
import { anAccount } from '../../../support/account-builders.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { aContext } from '../../../support/lambda-events.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const report: SweepReport = {
  paused: false,
  pauseStands: false,
  open: 4,
  unreadable: 0,
  failed: 0,
  completed: 1,
  stopped: 0,
  reEnqueued: 2,
  tasksSentAgain: 3,
  oldestPendingSeconds: 90,
  feedbackSilent: false,
  progressed: true,
  finished: true,
};
/** As EventBridge sends it. */
const scheduled = {
  version: '0',
  id: '53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa',
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: '123456789012',
  time: '2026-03-02T09:00:00Z',
  region: 'eu-west-1',
  resources: ['arn:aws:events:eu-west-1:123456789012:rule/sweep'],
  detail: {},
};

const handlerThat = (answered: SweepReport = report, account: AccountReport = { fetched: undefined, isOutdated: false }) => {
  const situations: Parameters<SweepHandlerDeps['sweep']>[0][] = [];
  const steps: string[] = [];
  const handler = createHandler({
    inspectAccount: () => {
      steps.push('account');
      return Promise.resolve(account);
    },
    sweep: (situation) => {
      steps.push('sweep');
      situations.push(situation);
      return Promise.resolve(answered);
    },
    telemetry: output.telemetry,
  });
  return { handler, situations, steps };
};

describe('the sweeper’s handler', () => {
  it.each<[string, unknown, boolean]>([
    ['on schedule', scheduled, false],
    ['at start', { detail: { atStart: true } }, true],
    ['by hand, with an empty event', {}, false],
  ])('sweeps %s', async (_name, event, atStart) => {
    const { handler, situations } = handlerThat();

    await handler(event, aContext());

    expect(situations.map((situation) => situation.atStart)).toEqual([atStart]);
  });

  it('passes on how much time is left', async () => {
    const { handler, situations } = handlerThat();

    await handler(scheduled, aContext(7_000));

    expect(situations[0]?.remainingMs()).toBe(7_000);
  });

  it('tells what it put right, and how long the oldest has waited', async () => {
    await handlerThat().handler(scheduled, aContext());

    expect(output.metrics()).toEqual([
      { name: 'AccountOutdated', value: 0, dimensions: ['service', 'Stage'] },
      { name: 'SweepProgressed', value: 1, dimensions: ['service', 'Stage'] },
      { name: 'SweepFinished', value: 1, dimensions: ['service', 'Stage'] },
      { name: 'SendingPaused', value: 0, dimensions: ['service', 'Stage'] },
      { name: 'DispatchCompleted', value: 1, dimensions: ['service', 'Stage'] },
      { name: 'RecipientReEnqueued', value: 2, dimensions: ['service', 'Stage'] },
      { name: 'TaskReEnqueued', value: 3, dimensions: ['service', 'Stage'] },
      { name: 'FeedbackSilent', value: 0, dimensions: ['service', 'Stage'] },
      { name: 'OldestPendingSeconds', value: 90, dimensions: ['service', 'Stage'] },
    ]);
  });

  it('tells of a dispatch that it stopped', async () => {
    await handlerThat({ ...report, stopped: 2 }).handler(scheduled, aContext());

    expect(output.metrics()).toContainEqual({ name: 'DispatchStopped', value: 2, dimensions: ['service', 'Stage'] });
  });

  it('says nothing but that, and that it ran, while sending is paused', async () => {
    await handlerThat({ ...report, paused: true, pauseStands: true }).handler(scheduled, aContext());

    expect(output.metrics()).toEqual([
      { name: 'AccountOutdated', value: 0, dimensions: ['service', 'Stage'] },
      { name: 'SweepProgressed', value: 1, dimensions: ['service', 'Stage'] },
      { name: 'SweepFinished', value: 1, dimensions: ['service', 'Stage'] },
      { name: 'SendingPaused', value: 1, dimensions: ['service', 'Stage'] },
    ]);
  });

  it.each([
    ['active', report],
    ['paused', { ...report, paused: true }],
  ])('reads the account before anything else while sending is %s', async (_name, given) => {
    const { handler, steps } = handlerThat(given, { fetched: anAccount({ perDay: 200, sentLastDay: 50 }), isOutdated: false });

    await handler(scheduled, aContext());

    expect(steps).toEqual(['account', 'sweep']);
    expect(output.metrics()).toContainEqual({ name: 'QuotaUsedShare', value: 0.25, dimensions: ['service', 'Stage'] });
  });

  it.each([
    [true, [1]],
    [false, [0]],
    // The table did not answer.
    [undefined, []],
  ])('tells whether the account is outdated: %s', async (isOutdated, told) => {
    await handlerThat(report, { fetched: undefined, isOutdated }).handler(scheduled, aContext());

    expect(output.metrics().flatMap(({ name, value }) => (name === 'AccountOutdated' ? [value] : []))).toEqual(told);
  });

  it.each([
    ['a round that is complete', { progressed: true, finished: true }, ['SweepProgressed', 'SweepFinished']],
    ['a pass that leaves the rest of the round to the next one', { progressed: true, finished: false }, ['SweepProgressed']],
    ['a pass that inspected nothing of what was due', { progressed: false, finished: false }, []],
  ])('after %s gives its heartbeats', async (_name, given, expected) => {
    await handlerThat({ ...report, ...given }).handler(scheduled, aContext());

    const names = output.metrics().map(({ name }) => name);
    expect(names.filter((name) => name === 'SweepProgressed' || name === 'SweepFinished')).toEqual(expected);
  });

  it('counts failed steps and unreadable dispatches while sending is paused, too', async () => {
    await handlerThat({ ...report, paused: true, pauseStands: true, failed: 2, unreadable: 1 }).handler(scheduled, aContext());

    expect(output.metrics()).toEqual(
      expect.arrayContaining([
        { name: 'SweepRecoveryFailed', value: 2, dimensions: ['service', 'Stage'] },
        { name: 'DispatchUnreadable', value: 1, dimensions: ['service', 'Stage'] },
      ]),
    );
  });

  it('fails on an event that is none', async () => {
    await expect(handlerThat().handler({ detail: { atStart: 'yes' } }, aContext())).rejects.toThrow();
  });
});

describe('what a search for objects without an item tells', () => {
  const search: OrphanReport = { listed: 10_000, deleted: 0, batchesOverdue: 0, unknown: 0, isWhole: false };

  it.each<[string, Partial<OrphanReport>, number[]]>([
    ['a part of a search that found none: there may be some in the rest', {}, []],
    ['a part of a search that found some', { batchesOverdue: 2 }, [2]],
    ['a whole search that found none', { isWhole: true }, [0]],
    ['a whole search that found some', { isWhole: true, batchesOverdue: 2 }, [2]],
  ])('of overdue batches after %s', (_name, given, told) => {
    createOrphanObserver(output.telemetry)({ ...search, ...given });
    output.telemetry.metrics.publishStoredMetrics();

    expect(output.metrics().flatMap(({ name, value }) => (name === 'BatchOverdue' ? [value] : []))).toEqual(told);
  });
});
