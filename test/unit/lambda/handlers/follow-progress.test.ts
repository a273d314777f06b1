import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ProgressRecord } from '../../../../lambda/application/progress/follow-progress.ts';
import { createHandler, interpret } from '../../../../lambda/handlers/follow-progress/handler.ts';
import { createProgressObserver } from '../../../../lambda/handlers/follow-progress/signals.ts';
import { FunctionFailedError } from '../../../../lambda/observability/hide-errors.ts';
import { rowCounts } from '../../../support/builders.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { T0 } from '../../../support/clock.ts';
import { aContext, aStreamEvent, aStreamRecord } from '../../../support/lambda-events.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

type Image = Readonly<Record<string, AttributeValue>>;

const modified = (sk: string, OldImage: Image, NewImage: Image, pk = 'DISPATCH#d1#0'): DynamoDBRecord => {
  const record = aStreamRecord('MODIFY', sk, { pk });
  return { ...record, dynamodb: { ...record.dynamodb, OldImage, NewImage } };
};
const row = (status: string, delivery?: string): Image => ({
  email: { S: 'kim@example.com' },
  status: { S: status },
  ...(delivery !== undefined && { delivery: { S: delivery } }),
});
const claims = (n: number): DynamoDBRecord[] =>
  Array.from({ length: n }, (_, i) => aStreamRecord('MODIFY', `RECIPIENT#a-${i}`, { from: 'PENDING', to: 'PROCESSING', n: i }));

const handlerThat = (firstOpen?: number) => {
  const seen: ProgressRecord[] = [];
  const handler = createHandler({
    followProgress: (records) => {
      seen.push(...records);
      return Promise.resolve(firstOpen);
    },
    telemetry: output.telemetry,
  });
  return { handler, seen };
};

describe('a record of a recipient', () => {
  it('tells from which state it went to which', () => {
    expect(interpret(modified('RECIPIENT#a-1', row('PROCESSING'), row('SENT', 'bounced')))).toEqual({
      kind: 'recipient',
      dispatchId: 'd1',
      before: { status: 'PROCESSING', delivery: 'none' },
      after: { status: 'SENT', delivery: 'bounced' },
    });
  });

  it.each<[string, DynamoDBRecord]>([
    ['of a new one', aStreamRecord('INSERT', 'RECIPIENT#a-1', { to: 'PENDING' })],
    ['of one that is gone', aStreamRecord('REMOVE', 'RECIPIENT#a-1', { from: 'SENT' })],
    ['of one that stays in its state', modified('RECIPIENT#a-1', row('SENT', 'delivered'), row('SENT', 'delivered'))],
  ])('%s counts for nothing', (_name, record) => {
    expect(interpret(record)).toEqual({ kind: 'other' });
  });
});

const dispatchImage = (status: string, more: Image = {}): Image => ({
  dispatchId: { S: 'd1' },
  adminId: { S: 'kim@example.com' },
  status: { S: status },
  total: { N: '3' },
  generation: { N: '2' },
  ...more,
});

describe('a record of a dispatch', () => {
  it('tells how it stood and how it stands, and when that was written', () => {
    const number = (n: number) => ({ N: String(n) });
    const { counts, deliveries } = rowCounts({ SENT: 2, FAILED: 1 }, { bounced: 1 });
    const mapOf = (numbers: Readonly<Record<string, number>>) => ({
      M: Object.fromEntries(Object.entries(numbers).map(([name, n]) => [name, number(n)])),
    });
    const completed = dispatchImage('COMPLETED', {
      outcome: { S: 'partly-sent' },
      needsAttention: { BOOL: true },
      counts: mapOf({ ...counts, PENDING: -2 }),
      deliveries: mapOf(deliveries),
    });

    expect(interpret(modified('DISPATCH', dispatchImage('IN_PROGRESS'), completed, 'DISPATCH#d1'))).toEqual({
      kind: 'dispatch',
      before: { dispatchId: 'd1', status: 'IN_PROGRESS', total: 3, generation: 2 },
      after: {
        ...{ dispatchId: 'd1', status: 'COMPLETED', total: 3, generation: 2, outcome: 'partly-sent', needsAttention: true },
        ...{ counts, deliveries },
      },
      at: T0,
    });
  });

  it('tells why and when it was stopped', () => {
    const stop = { failureReason: { S: 'high-bounce-rate' }, stoppedAt: { S: '2026-03-02T09:00:00.000Z' } };

    expect(
      interpret(modified('DISPATCH', dispatchImage('IN_PROGRESS'), dispatchImage('STOPPED', stop), 'DISPATCH#d1')),
    ).toMatchObject({ after: { failureReason: 'high-bounce-rate', stoppedAt: T0 } });
  });

  it('takes a count that is not there yet for none, so that its news is told', () => {
    const before = dispatchImage('IN_PROGRESS', { counts: { M: { PENDING: { N: '3' } } }, deliveries: { M: {} } });

    expect(interpret(modified('DISPATCH', before, dispatchImage('STOPPED'), 'DISPATCH#d1'))).toMatchObject({
      kind: 'dispatch',
      before: rowCounts({ PENDING: 3 }),
    });
  });

  it('that is new tells nothing', () => {
    expect(interpret(aStreamRecord('INSERT', 'DISPATCH', { pk: 'DISPATCH#d1', to: 'ACCEPTED' }))).toEqual({ kind: 'other' });
  });
});

it.each<[string, unknown]>([
  ['a recipient in a state that nobody knows', modified('RECIPIENT#a-1', row('PENDING'), row('BLOCKED'))],
  ['a recipient under a key of another form', modified('RECIPIENT#a-1', row('PENDING'), row('SENT'), 'DISPATCH#d1')],
  ['a dispatch of another form', modified('DISPATCH', {}, dispatchImage('COMPLETED'), 'DISPATCH#d1')],
  ['a record of a kind nobody knows', { eventName: 'TRUNCATE' }],
])('%s cannot be read', (_name, record) => {
  expect(interpret(record)).toEqual({ kind: 'malformed' });
});

describe('a record of a task', () => {
  const task = (kind: string, state: string): Image => ({ kind: { S: kind }, state: { S: state } });

  it.each(['retry', 'resume'])('that is a %s and done tells that nothing more is reopened', (kind) => {
    expect(interpret(modified('TASK#0001', task(kind, 'open'), task(kind, 'done'), 'DISPATCH#d1'))).toEqual({
      kind: 'reopened',
      dispatchId: 'd1',
    });
  });

  it.each([task('retry', 'open'), task('export', 'done'), task('cancel', 'done')])('that is %o tells nothing', (image) => {
    expect(interpret(modified('TASK#0001', image, image, 'DISPATCH#d1'))).toEqual({ kind: 'other' });
  });
});

it.each([['CONTENT'], ['BATCH#0001'], ['TASK#0001']])('a change of %s is nothing to count', (sk) => {
  expect(interpret(aStreamRecord('MODIFY', sk, { pk: 'DISPATCH#d1' }))).toEqual({ kind: 'other' });
});

describe('the handler of progress', () => {
  it('takes records in their order', async () => {
    const { handler, seen } = handlerThat();

    expect(await handler(aStreamEvent(...claims(3)), aContext())).toEqual({ batchItemFailures: [] });
    expect(seen.map(({ kind }) => kind)).toEqual(['recipient', 'recipient', 'recipient']);
  });

  it('names the sequence number from which the stream must come again (O1)', async () => {
    const { handler } = handlerThat(2);

    expect(await handler(aStreamEvent(...claims(5)), aContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: '10000000000000000002' }],
    });
  });

  it('fails as a whole when there is no number to name', async () => {
    const { handler } = handlerThat(0);
    const record = aStreamRecord('MODIFY', 'RECIPIENT#a-1', { from: 'PENDING', to: 'PROCESSING' });
    delete record.dynamodb?.SequenceNumber;

    await expect(handler(aStreamEvent(record), aContext())).rejects.toThrow(FunctionFailedError);
  });

  it('passes over what cannot be read, and counts it without its content', async () => {
    const { handler, seen } = handlerThat();
    const odd = modified('RECIPIENT#kim@example.com', row('PENDING'), row('BLOCKED'));

    expect(await handler(aStreamEvent(odd, ...claims(1)), aContext())).toEqual({ batchItemFailures: [] });

    expect(seen.map(({ kind }) => kind)).toEqual(['malformed', 'recipient']);
    expect(output.metrics()).toMatchObject([{ name: 'ProgressRecordMalformed', value: 1 }]);
    expect(output.text()).not.toContain('kim@example.com');
  });
});

describe('what progress did', () => {
  it('names what kept news from being taken, where “Errors by code” looks', () => {
    createProgressObserver(output.telemetry)({ type: 'not-published', count: 3, codes: ['AccessDenied', 'ThrottlingException'] });

    expect(JSON.parse(output.text())).toMatchObject({
      signal: 'not-published',
      events: 3,
      code: 'AccessDenied, ThrottlingException',
    });
  });

  it.each([
    [{ type: 'completed', dispatchId: 'd1' }, 'DispatchCompleted', 1],
    [{ type: 'closed', dispatchId: 'd1' }, 'CancellationFinished', 1],
    [{ type: 'stopped', dispatchId: 'd1' }, 'DispatchStopped', 1],
    [{ type: 'recounted', dispatchId: 'd1' }, 'ProgressRecounted', 1],
    [{ type: 'not-counted', dispatchId: 'd1', error: new Error('kim@example.com') }, 'ProgressFailed', 1],
    [{ type: 'uncountable', dispatchId: 'd1', error: new Error('kim@example.com') }, 'ProgressRecordMalformed', 1],
    [{ type: 'not-begun', dispatchId: 'd1', error: new Error('kim@example.com') }, 'ProgressFailed', 1],
    [{ type: 'evaluation-failed', dispatchId: 'd1', error: new Error('kim@example.com') }, 'ProgressFailed', 1],
    [{ type: 'published', count: 3 }, 'EventsPublished', 3],
    [{ type: 'not-published', count: 2, codes: ['AccessDenied'] }, 'EventPublishFailed', 2],
  ] as const)('%j is counted, without a word of an error', (signal, name, value) => {
    createProgressObserver(output.telemetry)(signal);
    output.telemetry.metrics.publishStoredMetrics();

    expect(output.metrics()).toMatchObject([{ name, value }]);
    expect(output.text()).not.toContain('kim@example.com');
  });
});
