import { BatchExecuteStatementCommand, DeleteCommand, DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createBatchRepository, ExpansionUnfinishedError } from '../../../../../lambda/adapters/dynamo/batch-repository.ts';
import { packBatch } from '../../../../../lambda/adapters/dynamo/packing.ts';
import { shardOf } from '../../../../../lambda/domain/shards.ts';
import { createFakeClock, T0 } from '../../../../support/clock.ts';
import { documentClient, sentStatements } from '../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const repository = createBatchRepository(documentClient(), 'mail', createFakeClock().sleep);
const key = { dispatchId: 'd1', batch: 7 };
const addressees = [
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

beforeEach(() => {
  dynamo.reset();
  dynamo.on(GetCommand).resolves({});
});

describe('a batch', () => {
  it('is read consistently, with the shards of its dispatch', async () => {
    dynamo
      .on(GetCommand, { TableName: 'mail', Key: { pk: 'DISPATCH#d1', sk: 'BATCH#0007' }, ConsistentRead: true })
      .resolves({ Item: { data: packBatch(addressees), count: 2 } })
      .on(GetCommand, { TableName: 'mail', Key: { pk: 'DISPATCH#d1', sk: 'DISPATCH' }, ConsistentRead: true })
      .resolves({ Item: dispatch });

    expect(await repository.find(key)).toEqual({ addressees, shards: 2 });
  });

  it('is gone once it was expanded', async () => {
    expect(await repository.find(key)).toBeUndefined();
  });

  it('becomes one insert a recipient, which fails on one that is there (U6)', async () => {
    dynamo.on(BatchExecuteStatementCommand).resolves({ Responses: [{}, {}] });

    await repository.putRecipients(key, addressees, 2, T0);

    expect(sentStatements(dynamo)).toEqual([
      addressees.map(({ applyId, email, variables }) => ({
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

    await expect(repository.putRecipients(key, addressees, 2, T0)).resolves.toBeUndefined();
  });

  it.each(['ThrottlingError', 'ValidationError'] as const)(
    'fails unfinished on %s, so that the task comes again',
    async (Code) => {
      dynamo.on(BatchExecuteStatementCommand).callsFake(({ Statements }: { Statements: object[] }) => ({
        Responses: Statements.map(() => ({ Error: { Code } })),
      }));

      await expect(repository.putRecipients(key, addressees, 2, T0)).rejects.toThrow(ExpansionUnfinishedError);
    },
  );

  it('is removed by its key', async () => {
    dynamo.on(DeleteCommand).resolves({});

    await repository.remove(key);

    expect(dynamo.commandCalls(DeleteCommand).map(({ args }) => args[0].input)).toEqual([
      { TableName: 'mail', Key: { pk: 'DISPATCH#d1', sk: 'BATCH#0007' } },
    ]);
  });
});
