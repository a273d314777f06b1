import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createSendingRepository } from '../../../../../../lambda/adapters/dynamo/control/sending-repository.ts';
import type { Sending } from '../../../../../../lambda/domain/sending/pause.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const repository = createSendingRepository(documentClient(), 'mail');
const Key = { pk: 'CONTROL', sk: 'SENDING' };
const at = '2026-03-02T09:00:00.000Z';
const later = '2026-03-02T09:01:00.000Z';

const service = { by: 'service', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED', since: T0, until: T0 + 60_000, seconds: 60 } as const;
const CASES: [string, Sending, Record<string, unknown>][] = [
  ['a pause of the service', { version: 3, pause: service }, { version: 3, pause: { ...service, since: at, until: later } }],
  [
    'one that is being probed',
    { version: 4, pause: { ...service, probeUntil: T0 + 60_000 } },
    { version: 4, pause: { ...service, since: at, until: later, probeUntil: later } },
  ],
  [
    'a pause of an operator',
    { version: 5, pause: { by: 'operator', who: 'op-1', since: T0, reason: 'wrong template' } },
    { version: 5, pause: { by: 'operator', who: 'op-1', since: at, reason: 'wrong template' } },
  ],
  [
    'one that was probed',
    { version: 7, pause: { ...service, probes: 2 } },
    { version: 7, pause: { ...service, since: at, until: later, probes: 2 } },
  ],
  [
    'one of the service that ended',
    { version: 8, resumedAt: T0, lastSeconds: 120 },
    { version: 8, resumedAt: at, lastSeconds: 120 },
  ],
  ['one that ended', { version: 6, resumedAt: T0 }, { version: 6, resumedAt: at }],
];

beforeEach(() => {
  dynamo.reset();
});

describe('whether the account may send', () => {
  it.each(CASES)('is read as it was stored: %s', async (_name, sending, item) => {
    dynamo.on(GetCommand).resolves({ Item: { ...Key, ...item } });

    expect(await repository.read()).toEqual(sending);
    expect(dynamo.commandCalls(GetCommand)[0]?.args[0].input).toEqual({ TableName: 'mail', Key, ConsistentRead: true });
  });

  it('is yes while nobody ever paused', async () => {
    dynamo.on(GetCommand).resolves({});

    expect(await repository.read()).toEqual({ version: 0 });
  });

  it.each<[string, Record<string, unknown>]>([
    ['without a version', { pause: { by: 'operator', who: 'op-1', since: at } }],
    ['with a pause by nobody', { version: 1, pause: { by: 'nobody', since: at } }],
    ['with an instant that is none', { version: 1, pause: { by: 'operator', who: 'op-1', since: 'yesterday' } }],
    ['with a pause without an end', { version: 1, pause: { by: 'service', code: 'X', since: at, seconds: 60 } }],
  ])('cannot be told from an item %s: nothing is sent on a guess', async (_name, item) => {
    dynamo.on(GetCommand).resolves({ Item: { ...Key, ...item } });

    expect(await repository.read()).toBe('unavailable');
  });

  it('cannot be told when the table does not answer', async () => {
    dynamo.on(GetCommand).rejects(sdkError('TimeoutError'));

    expect(await repository.read()).toBe('unavailable');
  });

  it('that may not be read is not hidden', async () => {
    dynamo.on(GetCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(repository.read()).rejects.toThrow('AccessDeniedException');
  });
});

describe('a change', () => {
  it.each(CASES)('is written whole, over the version before it: %s', async (_name, sending, item) => {
    dynamo.on(UpdateCommand).resolves({});

    expect(await repository.change(sending)).toBe(true);

    const input = dynamo.commandCalls(UpdateCommand)[0]?.args[0].input;
    const removed = ['pause', 'resumedAt', 'lastSeconds'].filter((name) => !(name in item)).map((name) => `#${name}`);
    expect(input?.Key).toEqual(Key);
    expect(input?.UpdateExpression?.split(' REMOVE ')[1]).toBe(removed.join(', '));
    expect(input?.ConditionExpression).toBe('#version = :was_version');
    expect(input?.ExpressionAttributeValues).toEqual({
      ...Object.fromEntries(Object.entries(item).map(([name, value]) => [`:${name}`, value])),
      ':was_version': sending.version - 1,
    });
  });

  it('is the first one only while there is none', async () => {
    dynamo.on(UpdateCommand).resolves({});
    await repository.change({ version: 1, pause: service });

    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input.ConditionExpression).toBe('attribute_not_exists(#version)');
  });

  it('does not happen when another was faster', async () => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

    expect(await repository.change({ version: 2, resumedAt: T0 })).toBe(false);
  });

  it('that got no answer is open', async () => {
    dynamo.on(UpdateCommand).rejects(sdkError('TimeoutError'));

    await expect(repository.change({ version: 2, resumedAt: T0 })).rejects.toThrow('TimeoutError');
  });
});
