import { DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createDetailsRepository } from '../../../../../../lambda/adapters/dynamo/query/details-repository.ts';
import { Unavailable } from '../../../../../../lambda/application/ports/errors.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const table = mockClient(DynamoDBDocumentClient);
const detailsRepository = createDetailsRepository(documentClient(), 'mail', () => 0);
const key = { dispatchId: 'd1', shard: 0, applyId: 'a-1' };

beforeEach(() => {
  table.reset();
});

describe('what stories are told of', () => {
  it('is read without what mails say', async () => {
    table.on(GetCommand).resolves({});

    await detailsRepository.recipient(key);

    const [call] = table.commandCalls(GetCommand);
    const { ProjectionExpression, ExpressionAttributeNames, ConsistentRead } = call?.args[0].input ?? {};
    expect(ConsistentRead).toBe(true);
    expect(ProjectionExpression?.split(', ')).toEqual(Object.keys(ExpressionAttributeNames ?? {}));
    expect(Object.values(ExpressionAttributeNames ?? {})).not.toContain('variables');
  });

  it('goes on over pages', async () => {
    const item = (n: number) => ({ pk: 'DISPATCH#d1', sk: `BATCH#000${n}` });
    table
      .on(QueryCommand)
      .resolvesOnce({ Items: [item(1)], LastEvaluatedKey: item(1) })
      .resolvesOnce({ Items: [item(2)] });

    expect(await detailsRepository.pendingBatches('d1')).toBe(2);
  });

  it('is looked for in so many rows and no more', async () => {
    const next = { pk: 'DISPATCH#d1#0', sk: 'RECIPIENT#x' };
    table.on(QueryCommand).resolves({ Items: [], LastEvaluatedKey: next });

    expect(await detailsRepository.badRecipients({ dispatchId: 'd1', shards: 64 }, 10)).toEqual([]);
    expect(table.commandCalls(QueryCommand)).toHaveLength(20);
  });

  it('leaves out a row or a task that no version of this code wrote, and none of the others', async () => {
    const good = { sk: 'RECIPIENT#a-1', status: 'FAILED', lastErrorCode: 'MESSAGE_REJECTED' };
    const task = { pk: 'DISPATCH#d1', kind: 'cancel', state: 'open', requestedAt: '2026-03-02T09:00:00.000Z' };
    const tasks = [
      { ...task, sk: 'TASK#0001', state: 7 },
      { ...task, sk: 'TASK#0002' },
    ];
    table
      .on(QueryCommand)
      .resolvesOnce({ Items: [{ ...good, delivery: 7 }, good] })
      .resolvesOnce({ Items: tasks });

    expect(await detailsRepository.badRecipients({ dispatchId: 'd1', shards: 1 }, 10)).toMatchObject([{ applyId: 'a-1' }]);
    expect(await detailsRepository.pendingTasks('d1')).toMatchObject([{ task: 2, kind: 'cancel' }]);
  });

  it('is unavailable while the table gives no answer', async () => {
    table.onAnyCommand().rejects(sdkError('ThrottlingException', 400));

    await expect(detailsRepository.recipient(key)).rejects.toThrow(Unavailable);
    await expect(detailsRepository.pendingTasks('d1')).rejects.toThrow(Unavailable);
    await expect(detailsRepository.pendingBatches('d1')).rejects.toThrow(Unavailable);
  });

  it('fails on what passes by no waiting', async () => {
    table.onAnyCommand().rejects(sdkError('AccessDeniedException', 400));

    await expect(detailsRepository.recipient(key)).rejects.toThrow('AccessDeniedException');
  });
});
