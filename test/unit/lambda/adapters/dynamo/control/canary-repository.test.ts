import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createCanaryRepository } from '../../../../../../lambda/adapters/dynamo/control/canary-repository.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const repository = createCanaryRepository(documentClient(), 'mail');
const Key = { pk: 'CONTROL', sk: 'CANARY' };
const at = '2026-03-02T09:00:00.000Z';
const conflict = new ConditionalCheckFailedException({ message: 'no', $metadata: {} });
const refused = { kind: 'account', code: 'ACCESS_DENIED' } as const;

beforeEach(() => {
  dynamo.reset();
});

describe('the newest canary', () => {
  it('is read as it was shared', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...Key, bookedAt: at, beganAt: at, canaryAnswer: refused } });

    expect(await repository.newest()).toEqual({ beganAt: T0, answer: refused });
    expect(dynamo.commandCalls(GetCommand)[0]?.args[0].input).toEqual({ TableName: 'mail', Key, ConsistentRead: true });
  });

  it.each([
    ['before the first one', {}],
    ['as long as it is only booked', { bookedAt: at }],
    ['in an answer that this version does not know', { beganAt: at, canaryAnswer: { kind: 'new', code: 'X' } }],
  ])('is not known %s', async (_name, item) => {
    dynamo.on(GetCommand).resolves({ Item: { ...Key, ...item } });

    expect(await repository.newest()).toBeUndefined();
  });

  it('is not known when the table does not answer', async () => {
    dynamo.on(GetCommand).rejects(sdkError('TimeoutError'));

    expect(await repository.newest()).toBeUndefined();
  });
});

describe('what the table does not do', () => {
  it('lets no canary be sent', async () => {
    dynamo.on(UpdateCommand).rejectsOnce(conflict).rejectsOnce(sdkError('TimeoutError'));

    expect([await repository.book(T0, 10), await repository.book(T0, 10)]).toEqual([false, false]);
  });

  it('keeps a result to its sender', async () => {
    dynamo.on(UpdateCommand).rejects(conflict);

    await expect(repository.record({ beganAt: T0, answer: refused })).resolves.toBeUndefined();
  });

  it('counts no environment', async () => {
    dynamo.on(GetCommand).resolves({});
    dynamo.on(UpdateCommand).rejects(conflict);

    expect(await repository.noteCredentials('e-1', T0)).toBe(0);
  });

  it('is not hidden when it is not allowed', async () => {
    dynamo.on(UpdateCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(repository.book(T0, 10)).rejects.toThrow('AccessDeniedException');
  });
});

describe('environments whose credentials were refused', () => {
  it('are counted once each, for five minutes', async () => {
    const refusedCredentials = { old: '2026-03-02T08:55:00.000Z', 'e-1': '2026-03-02T08:55:00.001Z' };
    dynamo.on(GetCommand).resolves({ Item: { ...Key, refusedCredentials } });
    dynamo.on(UpdateCommand).resolves({});

    expect(await repository.noteCredentials('e-2', T0)).toBe(2);
    expect(await repository.noteCredentials('e-1', T0)).toBe(1);
  });
});
