import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { OutboxRecord } from '../../../../lambda/application/relay/relay-outbox.ts';
import { createHandler } from '../../../../lambda/handlers/relay-outbox/handler.ts';
import { FunctionFailedError } from '../../../../lambda/observability/hide-errors.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { aContext, aStreamEvent, aStreamRecord } from '../../../support/lambda-events.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const handlerThat = (firstOpen?: number) => {
  const seen: OutboxRecord[] = [];
  const handler = createHandler({
    relay: (records) => {
      seen.push(...records);
      return Promise.resolve(firstOpen);
    },
    telemetry: output.telemetry,
  });
  return { handler, seen };
};
const inserts = (n: number) =>
  Array.from({ length: n }, (_, i) => aStreamRecord('INSERT', `RECIPIENT#a-${i}`, { to: 'PENDING', n: i }));

describe('the relay’s handler', () => {
  it('takes records in their order', async () => {
    const { handler, seen } = handlerThat();

    expect(await handler(aStreamEvent(...inserts(3)), aContext())).toEqual({ batchItemFailures: [] });
    expect(seen.map((record) => record.kind === 'recipient' && record.key.applyId)).toEqual(['a-0', 'a-1', 'a-2']);
  });

  it('names the sequence number from which the stream must come again (O1)', async () => {
    const { handler } = handlerThat(2);

    expect(await handler(aStreamEvent(...inserts(10)), aContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: '10000000000000000002' }],
    });
  });

  it('fails as a whole when there is no number to name', async () => {
    const { handler } = handlerThat(0);
    const record = aStreamRecord('INSERT', 'RECIPIENT#a-1');
    delete record.dynamodb?.SequenceNumber;

    await expect(handler(aStreamEvent(record), aContext())).rejects.toThrow(FunctionFailedError);
  });

  it('counts records that cannot be handled, without their content', async () => {
    const { handler } = handlerThat();

    await handler(aStreamEvent(...inserts(1), aStreamRecord('INSERT', 'RECIPIENT#kim@example.com', { pk: 'odd' })), aContext());

    expect(output.metrics()).toMatchObject([{ name: 'OutboxRecordMalformed', value: 1 }]);
    expect(output.text()).not.toContain('kim@example.com');
  });
});
