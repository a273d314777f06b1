import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createSweepStates } from '../../../../../../lambda/adapters/dynamo/control/sweep-states.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const sweepStates = createSweepStates(documentClient(), 'mail');
const Key = { pk: 'CONTROL', sk: 'SWEEPER' };

beforeEach(() => {
  dynamo.reset();
});

describe('the last complete pass of the sweeper', () => {
  it('is read consistently', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...Key, lastPassAt: '2026-03-02T09:00:00.000Z' } });

    expect(await sweepStates.lastPassAt()).toBe(T0);
    expect(dynamo.commandCalls(GetCommand)[0]?.args[0].input).toEqual({ TableName: 'mail', Key, ConsistentRead: true });
  });

  it.each<[string, object]>([
    ['there is no item', {}],
    ['the item has no such instant', { Item: Key }],
  ])('was never when %s', async (_name, found) => {
    dynamo.on(GetCommand).resolves(found);

    expect(await sweepStates.lastPassAt()).toBeUndefined();
  });

  it('cannot be told when the table does not answer, or of an item that no version of this code wrote', async () => {
    dynamo
      .on(GetCommand)
      .rejectsOnce(sdkError('TimeoutError'))
      .resolves({ Item: { ...Key, lastPassAt: 7 } });

    expect(await sweepStates.lastPassAt()).toBe('unavailable');
    expect(await sweepStates.lastPassAt()).toBe('unavailable');
  });

  it('that may not be read is not hidden', async () => {
    dynamo.on(GetCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(sweepStates.lastPassAt()).rejects.toThrow('AccessDeniedException');
  });

  it('is written over an earlier one only', async () => {
    dynamo.on(UpdateCommand).resolves({});
    await sweepStates.passed(T0);

    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toEqual({
      TableName: 'mail',
      Key,
      UpdateExpression: 'SET lastPassAt = :at REMOVE roundSince, roundProgressAt',
      ConditionExpression: 'attribute_not_exists(lastPassAt) OR lastPassAt < :at',
      ExpressionAttributeValues: { ':at': '2026-03-02T09:00:00.000Z' },
    });
  });

  it('stays when a later pass is there already', async () => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));
    dynamo.on(GetCommand).resolves({ Item: { ...Key, lastPassAt: '2026-03-02T09:00:00.001Z' } });

    await expect(sweepStates.passed(T0)).resolves.toBeUndefined();
  });

  it('that cannot be written says so', async () => {
    dynamo.on(UpdateCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(sweepStates.passed(T0)).rejects.toThrow('AccessDeniedException');
  });
});

describe('a round that takes several passes', () => {
  it('is remembered by its beginning', async () => {
    dynamo.on(UpdateCommand).resolves({});
    dynamo.on(GetCommand).resolves({ Item: { ...Key, roundSince: '2026-03-02T09:00:00.000Z' } });

    await sweepStates.keepRound(T0, undefined);

    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toMatchObject({
      Key,
      ExpressionAttributeValues: { ':since': '2026-03-02T09:00:00.000Z' },
    });
    expect(await sweepStates.openRound()).toBe(T0);
  });
});

describe('when SES took the newest mail', () => {
  it('is kept over an older one, and told as it stands then', async () => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));
    dynamo.on(GetCommand).resolves({ Item: { ...Key, newestSentAt: '2026-03-02T09:00:00.000Z' } });

    expect(await sweepStates.newestSent(T0 - 1)).toBe(T0);
    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toEqual({
      TableName: 'mail',
      Key,
      UpdateExpression: 'SET newestSentAt = :at',
      ConditionExpression: 'attribute_not_exists(newestSentAt) OR newestSentAt < :at',
      ExpressionAttributeValues: { ':at': '2026-03-02T08:59:59.999Z' },
    });
  });

  it('is told without one that was just seen', async () => {
    dynamo.on(GetCommand).resolves({});

    expect(await sweepStates.newestSent(undefined)).toBeUndefined();
    expect(dynamo.commandCalls(UpdateCommand)).toHaveLength(0);
  });
});
