import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { CREDENTIALS } from '../../../../local/clients.ts';
import { REGION } from '../../../../local/cloudformation/types/identity.ts';
import { type EventBusServer, startEventBus } from '../../../../local/emulators/event-bus.ts';

const ENTRY = {
  EventBusName: 'news',
  Source: 'mail-dispatch',
  DetailType: 'Dispatch Completed',
  Detail: '{"id":"d1-0-completed"}',
};

let directory: string;
let bus: EventBusServer;
let client: EventBridgeClient;
const start = async () => {
  bus = await startEventBus(directory);
  bus.addBuses(['news']);
  client = new EventBridgeClient({ endpoint: bus.address, region: REGION, credentials: CREDENTIALS, maxAttempts: 1 });
};
const stop = () => {
  client.destroy();
  bus.stop();
};
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'event-bus-'));
  await start();
});
afterEach(() => {
  stop();
  rmSync(directory, { recursive: true, force: true });
});

const put = (...Entries: PutEventsRequestEntry[]) => client.send(new PutEventsCommand({ Entries }));
const kept = async (): Promise<unknown> => (await fetch(bus.address)).json();

describe('the local event bus', () => {
  it('shows what was put on it as a subscriber would get it', async () => {
    const { FailedEntryCount, Entries = [] } = await put({ ...ENTRY, Time: new Date('2026-03-02T09:00:00Z') });

    expect(FailedEntryCount).toBe(0);
    expect(await kept()).toEqual([
      {
        version: '0',
        id: Entries[0]?.EventId,
        source: 'mail-dispatch',
        'detail-type': 'Dispatch Completed',
        account: '000000000000',
        time: '2026-03-02T09:00:00Z',
        region: 'us-east-1',
        resources: [],
        detail: { id: 'd1-0-completed' },
      },
    ]);
  });

  it('takes the good entries of a call and says of each bad one what is wrong', async () => {
    const { FailedEntryCount, Entries } = await put(
      { ...ENTRY, Detail: 'no JSON' },
      ENTRY,
      { ...ENTRY, Source: undefined },
      { ...ENTRY, EventBusName: 'of-another-stack' },
    );

    expect(FailedEntryCount).toBe(3);
    expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([
      'MalformedDetail',
      undefined,
      'InvalidArgument',
      'InvalidArgument',
    ]);
    expect(await kept()).toHaveLength(1);
  });

  it.each([
    ['eleven entries', Array.from({ length: 11 }, () => ENTRY)],
    ['no entry', []],
    ['more than 256 KB', [{ ...ENTRY, Detail: JSON.stringify({ text: 'x'.repeat(262_144) }) }]],
  ])('refuses a call of %s as a whole', async (_, entries) => {
    await expect(put(...entries)).rejects.toMatchObject({ name: 'ValidationException' });
    expect(await kept()).toEqual([]);
  });

  it('keeps its events over a restart, and leaves out the line at which it was killed', async () => {
    await put(ENTRY);
    appendFileSync(join(directory, 'events-bus.jsonl'), '\n{"version":"0","id":');
    stop();
    await start();
    await put(ENTRY);

    expect(await kept()).toHaveLength(2);
    expect(readFileSync(join(directory, 'events-bus.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3);
  });

  it('refuses a call that it does not know, and counts those that it does', async () => {
    const headers = { 'x-amz-target': 'AWSEvents.PutRule' };
    const response = await fetch(bus.address, { method: 'POST', headers, body: '{}' });
    await put(ENTRY);

    expect([response.status, await response.json()]).toMatchObject([400, { __type: 'UnknownOperationException' }]);
    expect(bus.counts()).toEqual({ PutEvents: 1 });
  });
});
