import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ResolveReport, ResolveSignal } from '../../../../lambda/application/unclear/resolve-unclear.ts';
import { createHandler } from '../../../../lambda/handlers/resolve-unclear/handler.ts';
import { createResolveObserver } from '../../../../lambda/handlers/resolve-unclear/signals.ts';
import { aKey } from '../../../support/builders.ts';
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

const EVENT = { source: 'aws.events', detail: {} };
const report: ResolveReport = { waiting: 3, resolved: 2, failed: 0, unreadable: 0, finished: true };

const run = async (given: Partial<ResolveReport> = {}, remainingMs = 50_000, countOpen = () => Promise.resolve(7)) => {
  const times: boolean[] = [];
  const handler = createHandler({
    resolveUnclear: (hasTime) => {
      times.push(hasTime());
      return Promise.resolve({ ...report, ...given });
    },
    countOpen,
    reserveMs: 15_000,
    telemetry: output.telemetry,
  });
  await handler(EVENT, aContext(remainingMs));
  return times;
};

describe('the walk over unclear attempts, as a function', () => {
  const ofMetric = (name: string) => output.metrics().flatMap((metric) => (metric.name === name ? [metric.value] : []));

  it('reports at each walk how many attempts are open, though it saw only a part of the ledger', async () => {
    await run({ waiting: 3, finished: false });
    await run({ waiting: 0, resolved: 0 }, 50_000, () => Promise.resolve(0));

    expect(ofMetric('UnclearWaiting')).toEqual([7, 0]);
  });

  it('reports no number of open attempts when the table does not give it', async () => {
    await run({}, 50_000, () => Promise.reject(new Error('the table does not answer')));

    expect(ofMetric('UnclearWaiting')).toEqual([]);
    expect(ofMetric('UnclearWalkFinished')).toEqual([1]);
  });

  it('gives a heartbeat only when it reached the end of the ledger', async () => {
    await run({ finished: false });
    expect(ofMetric('UnclearWalkFinished')).toEqual([]);

    await run();
    expect(ofMetric('UnclearWalkFinished')).toEqual([1]);
  });

  it('counts those of which table or queue gave no answer, none as well', async () => {
    await run({ failed: 4 });
    await run();

    expect(ofMetric('UnclearNotResolved')).toEqual([4, 0]);
  });

  it('counts those that cannot be read', async () => {
    await run({ unreadable: 2 });
    await run();

    expect(ofMetric('UnclearUnreadable')).toEqual([2]);
  });

  it('keeps time back for a canary and for what is under way', async () => {
    expect([await run({}, 15_001), await run({}, 15_000)]).toEqual([[true], [false]]);
  });

  it('says nothing of a walk that found nothing', async () => {
    await run({ waiting: 0, resolved: 0 });

    expect(output.text()).not.toContain('unclear attempts');
  });
});

const METRICS = {
  unsent: ['UnclearUnsent', 'INFO'],
  resent: ['UnclearResent', 'WARN'],
  unknown: ['OutcomeUnknown', 'WARN'],
  canary: ['CanarySent', 'INFO'],
  'canary-refused': ['CanaryRefused', 'WARN'],
} as const satisfies Record<ResolveSignal['type'], readonly [string, string]>;

describe('what the walk tells', () => {
  it.each(Object.keys(METRICS) as ResolveSignal['type'][])(
    'of %s is a metric of the fixed list and a line without an id of a person (B2, S14, V6)',
    (type) => {
      createResolveObserver(output.telemetry)({ type, key: aKey('kim@example.com'), round: 1, attempt: 2, code: 'CODE' });
      output.telemetry.metrics.publishStoredMetrics();

      expect(output.metrics()).toEqual([{ name: METRICS[type][0], value: 1, dimensions: ['service', 'Stage'] }]);
      expect(output.text()).toContain(`"level":"${METRICS[type][1]}"`);
      expect(output.text()).toContain('"recipient":"5d9a0087d4ccdb9b"');
      expect(output.text()).not.toContain('kim@example.com');
    },
  );
});
