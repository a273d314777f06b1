import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchExecuteStatementCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { encodeBatch } from '../../../../../../lambda/adapters/dynamo/client/codec.ts';
import { createBatchRepository } from '../../../../../../lambda/adapters/dynamo/dispatch/batch-repository.ts';
import { RecipientRejectedError } from '../../../../../../lambda/adapters/dynamo/recipient/insert-recipients.ts';
import { Unavailable } from '../../../../../../lambda/application/ports/errors.ts';
import { shardOf } from '../../../../../../lambda/domain/dispatch/shards.ts';
import { createFakeClock, type FakeClock, T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError, sentStatements } from '../../../../../support/dynamo.ts';
import { createFakeObjects, type FakeObjects } from '../../../../../support/fake-objects.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
let clock: FakeClock;
let objects: FakeObjects;
const repository = () =>
  createBatchRepository({ client: documentClient(), tableName: 'mail', objects, random: () => 1, sleep: clock.sleep });
const key = { dispatchId: 'd1', batch: 7 };
const batchItem = { pk: 'DISPATCH#d1', sk: 'BATCH#0007' };
const batch = { object: 'k', count: 2, shards: 2, status: 'ACCEPTED' } as const;
const recipientInputs = [
  { applyId: 'a-1', email: 'kim@example.com', variables: { name: 'Kim' } },
  { applyId: 'a-2', email: 'lee@example.com', variables: {} },
];
const dispatch = {
  dispatchId: 'd1',
  adminId: 'admin-1',
  scenarioId: 'interview',
  recruitId: 'r-1',
  total: 2_000,
  shards: 2,
  isTest: false,
  status: 'ACCEPTED',
  generation: 0,
  createdAt: '2026-03-02T09:00:00.000Z',
};
const always = () => true;

beforeEach(() => {
  dynamo.reset();
  dynamo.on(GetCommand).resolves({});
  clock = createFakeClock();
  objects = createFakeObjects();
});

describe('a batch', () => {
  it('is read consistently, with the shards and the status of its dispatch', async () => {
    dynamo
      .on(GetCommand, { TableName: 'mail', Key: batchItem, ConsistentRead: true })
      .resolves({ Item: { object: 'k', count: 2 } })
      .on(GetCommand, { TableName: 'mail', Key: { pk: 'DISPATCH#d1', sk: 'DISPATCH' }, ConsistentRead: true })
      .resolves({ Item: dispatch });

    expect(await repository().find(key)).toEqual(batch);
  });

  it('is gone once it was expanded', async () => {
    expect(await repository().find(key)).toBeUndefined();
  });

  it('has its recipients in the object that it names', async () => {
    const object = await objects.begin('d1').put('7', await encodeBatch(recipientInputs));

    expect(await repository().recipients({ ...batch, object })).toEqual(recipientInputs);
  });

  it('is unreadable when its object is gone, or altered', async () => {
    const object = await objects.begin('d1').put('7', await encodeBatch(recipientInputs));
    objects.stored.set(object, { body: await encodeBatch([]), storedAt: T0 });

    expect(await repository().recipients({ ...batch, object })).toBe('unreadable');
    objects.stored.clear();
    expect(await repository().recipients({ ...batch, object })).toBe('unreadable');
  });

  it('becomes one insert a recipient, which fails on one that is there (U6)', async () => {
    dynamo.on(BatchExecuteStatementCommand).resolves({ Responses: [{}, {}] });

    expect(await repository().putRecipients(key, recipientInputs, 2, T0, always)).toBe(true);

    expect(sentStatements(dynamo)).toEqual([
      recipientInputs.map(({ applyId, email, variables }) => ({
        text:
          `INSERT INTO "mail" VALUE {'pk': ?, 'sk': ?, 'email': ?, 'variables': ?, 'status': ?, 'round': ?, ` +
          `'attemptCount': ?, 'nextAttemptAt': ?, 'attempts': ?}`,
        parameters: [
          `DISPATCH#d1#${shardOf(applyId, 2)}`,
          `RECIPIENT#${applyId}`,
          email,
          JSON.stringify(variables),
          'PENDING',
          1,
          0,
          '2026-03-02T09:00:00.000Z',
          [],
        ],
      })),
    ]);
  });

  it('is expanded all the same when some recipients are there already', async () => {
    dynamo.on(BatchExecuteStatementCommand).resolves({ Responses: [{ Error: { Code: 'DuplicateItem' } }, {}] });

    expect(await repository().putRecipients(key, recipientInputs, 2, T0, always)).toBe(true);
  });

  it('fails for a recipient that the table can never take', async () => {
    dynamo.on(BatchExecuteStatementCommand).resolves({ Responses: [{ Error: { Code: 'ValidationError' } }, {}] });

    await expect(repository().putRecipients(key, recipientInputs, 2, T0, always)).rejects.toThrow(RecipientRejectedError);
  });

  it('is removed by its key, and its object after it', async () => {
    dynamo.on(DeleteCommand).callsFake(() => {
      objects.steps.push('remove item');
      return {};
    });

    await repository().remove(key, batch);

    expect(dynamo.commandCalls(DeleteCommand).map(({ args }) => args[0].input)).toEqual([{ TableName: 'mail', Key: batchItem }]);
    expect(objects.steps).toEqual(['remove item', 'remove object']);
  });

  it('is removed although its object cannot be deleted: the sweeper will', async () => {
    dynamo.on(DeleteCommand).resolves({});
    objects.remove = () => Promise.reject(new Error('access denied'));

    await expect(repository().remove(key, batch)).resolves.toBeUndefined();
  });
});

describe('expanding while the table throttles', () => {
  const many = Array.from({ length: 1_000 }, (_, i) => ({ applyId: `a-${i}`, email: 'kim@example.com', variables: {} }));
  /** Throttles until then, and keeps what it took. */
  const throttledUntil = (until: number, throws = false) => {
    const taken: unknown[] = [];
    dynamo.on(BatchExecuteStatementCommand).callsFake(({ Statements }: { Statements: { Parameters: unknown[] }[] }) => {
      if (clock.now() < until && throws) throw sdkError('ThrottlingException', 400);
      if (clock.now() < until) return { Responses: Statements.map(() => ({ Error: { Code: 'ThrottlingError' } })) };
      taken.push(...Statements.map(({ Parameters }) => Parameters[1]));
      return { Responses: Statements.map(() => ({})) };
    });
    return taken;
  };

  it.each([false, true])('goes on within 15 s after its end (V23), the call itself throttled: %s', async (throws) => {
    const taken = throttledUntil(T0 + 20_000, throws);

    expect(await repository().putRecipients(key, many, 2, T0, always)).toBe(true);
    expect(new Set(taken).size).toBe(1_000);
    expect(clock.now()).toBeLessThan(T0 + 35_000);
  });

  it('gives up when its time is over, and says so instead of failing (V23)', async () => {
    throttledUntil(T0 + 300_000);

    expect(await repository().putRecipients(key, many, 2, T0, () => clock.now() < T0 + 45_000)).toBe(false);
    expect(clock.now()).toBeLessThan(T0 + 53_000);
  });
});

describe('a batch whose object cannot be read', () => {
  const cancelledFor = (...codes: string[]) =>
    new TransactionCanceledException({ message: '', $metadata: {}, CancellationReasons: codes.map((Code) => ({ Code })) });

  it('stops its dispatch in one transaction with a check that it still names the object (V26)', async () => {
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await repository().stopUnreadable(key, batch, T0)).toBe('stopped');
    expect(dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems).toMatchObject([
      {
        ConditionCheck: {
          Key: batchItem,
          ConditionExpression: '#object = :object',
          ExpressionAttributeValues: { ':object': 'k' },
        },
      },
      {
        Update: {
          Key: { pk: 'DISPATCH#d1', sk: 'DISPATCH' },
          ConditionExpression: '#status IN (:accepted, :inProgress)',
          ExpressionAttributeValues: { ':stopped': 'STOPPED', ':reason': 'recipients-unreadable' },
        },
      },
    ]);
  });

  it.each([
    ['it is expanded by now (V31)', cancelledFor('ConditionalCheckFailed', 'ConditionalCheckFailed'), 'not-named'],
    ['its dispatch is not being sent', cancelledFor('None', 'ConditionalCheckFailed'), 'not-sending'],
  ])('stops nothing when %s', async (_name, error, outcome) => {
    dynamo.on(TransactWriteCommand).rejects(error);

    expect(await repository().stopUnreadable(key, batch, T0)).toBe(outcome);
  });

  it.each([cancelledFor('TransactionConflict', 'None'), cancelledFor('None', 'ThrottlingError'), sdkError('TimeoutError')])(
    'asks for patience after %s',
    async (error) => {
      dynamo.on(TransactWriteCommand).rejects(error);

      await expect(repository().stopUnreadable(key, batch, T0)).rejects.toBeInstanceOf(Unavailable);
    },
  );
});
