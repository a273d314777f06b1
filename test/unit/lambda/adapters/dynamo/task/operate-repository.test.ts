import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createOperateRepository } from '../../../../../../lambda/adapters/dynamo/task/operate-repository.ts';
import { Unavailable } from '../../../../../../lambda/application/ports/errors.ts';
import type { NewTask } from '../../../../../../lambda/application/ports/tasks.ts';
import { applyCommand } from '../../../../../../lambda/domain/dispatch/command.ts';
import { aDispatch } from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const repository = () => createOperateRepository(documentClient(), 'mail');
const AT = '2026-03-02T09:00:00.000Z';
const stored = { ...aDispatch({ status: 'STOPPED', generation: 3 }), createdAt: AT };

const start = (kind: NewTask['kind'], fault: Partial<NewTask> = {}) => {
  const dispatch = aDispatch({ status: 'STOPPED', generation: 3 });
  return repository().start({ dispatch, tasks: 1 }, applyCommand(kind, dispatch, T0), {
    kind,
    requestedAt: T0,
    requestedBy: 'admin-1',
    ...fault,
  });
};
const written = () => dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems ?? [];

beforeEach(() => {
  dynamo.reset();
});

describe('a dispatch to be changed', () => {
  it('is read consistently, with the number of its newest task', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...stored, tasks: 4 } });

    expect(await repository().find('d1spatch')).toEqual({ dispatch: aDispatch({ status: 'STOPPED', generation: 3 }), tasks: 4 });
    expect(dynamo.commandCalls(GetCommand)[0]?.args[0].input).toMatchObject({
      Key: { pk: 'DISPATCH#d1spatch', sk: 'DISPATCH' },
      ConsistentRead: true,
    });
  });

  it('may have no task yet, or not be there', async () => {
    dynamo.on(GetCommand).resolvesOnce({ Item: stored }).resolves({});

    expect((await repository().find('d1spatch'))?.tasks).toBe(0);
    expect(await repository().find('d1spatch')).toBeUndefined();
  });

  it('is asked for again later when the table does not answer', async () => {
    dynamo.on(GetCommand).rejects(sdkError('TimeoutError'));

    await expect(repository().find('d1spatch')).rejects.toThrow(Unavailable);
  });
});

describe('starting a task', () => {
  it('is one transaction with the change of the dispatch, as it was read', async () => {
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await start('cancel')).toBe(true);

    const [dispatch, task] = written();
    expect(dispatch?.Update).toMatchObject({
      Key: { pk: 'DISPATCH#d1spatch', sk: 'DISPATCH' },
      ConditionExpression: '#status = :was_status AND #generation = :was_generation',
      ExpressionAttributeValues: {
        ':was_status': 'STOPPED',
        ':was_generation': 3,
        ':status': 'CANCELLED',
        ':generation': 4,
        ':openKey': 'OPEN',
        ':cancelledAt': AT,
        ':tasks': 2,
      },
    });
    expect(task?.Put).toEqual({
      TableName: 'mail',
      Item: {
        pk: 'DISPATCH#d1spatch',
        sk: 'TASK#0002',
        kind: 'cancel',
        requestedAt: AT,
        requestedBy: 'admin-1',
        state: 'open',
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    });
  });

  it('of a resume takes the fault from the dispatch to the task', async () => {
    dynamo.on(TransactWriteCommand).resolves({});

    await start('resume', { faultCode: 'INVALID_PARAMETER', faultSince: T0 });

    const [dispatch, task] = written();
    expect(dispatch?.Update?.UpdateExpression).toMatch(/ REMOVE #failureReason, #faultCode, #faultSince, #stoppedAt$/);
    expect(dispatch?.Update?.ExpressionAttributeValues).toMatchObject({
      ':status': 'IN_PROGRESS',
      ':resumedAt': AT,
      ':lastProgressAt': AT,
      ':refusedCount': 0,
    });
    expect(task?.Put?.Item).toMatchObject({ kind: 'resume', faultCode: 'INVALID_PARAMETER', faultSince: AT });
  });

  it.each<[string, Error]>([
    ['was changed since', new TransactionCanceledException({ message: 'cancelled', $metadata: {} })],
    ['could not be reached', sdkError('TimeoutError')],
    ['failed', sdkError('InternalServerError', 500)],
  ])('tells when what it writes to %s', async (_name, error) => {
    dynamo.on(TransactWriteCommand).rejects(error);

    expect(await start('cancel')).toBe(false);
  });

  it('fails on what no repetition will cure', async () => {
    dynamo.on(TransactWriteCommand).rejects(sdkError('ValidationException', 400));

    await expect(start('cancel')).rejects.toThrow('ValidationException');
  });
});
