import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { readOverdueRows } from '../../../../../../lambda/adapters/dynamo/recipient/overdue-rows.ts';
import { toIso } from '../../../../../../lambda/domain/shared/instant.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const deps = { client: documentClient(), tableName: 'mail' };
const dispatch = { dispatchId: 'd1', shards: 2 };

beforeEach(() => {
  dynamo.reset();
});

const row = (applyId: string, status: string, dueAt: number, leaseUntil?: number) => ({
  pk: 'DISPATCH#d1#0',
  sk: `RECIPIENT#${applyId}`,
  status,
  nextAttemptAt: toIso(dueAt),
  ...(leaseUntil !== undefined && { leaseUntil: toIso(leaseUntil) }),
});

describe('a page of overdue rows', () => {
  it('holds those that were overdue at that time, and says where the next one begins', async () => {
    dynamo.on(QueryCommand).resolves({
      Items: [
        row('due', 'PENDING', T0),
        row('later', 'PENDING', T0 + 1),
        row('dead', 'PROCESSING', T0 - 9, T0 - 2),
        row('held', 'PROCESSING', T0 - 9, T0 + 1),
        { ...row('of no version', 'PENDING', T0), nextAttemptAt: 'soon' },
      ],
      LastEvaluatedKey: { pk: 'DISPATCH#d1#0', sk: 'RECIPIENT#x' },
    });

    expect(await readOverdueRows(deps, dispatch, ['PENDING', 'PROCESSING'], { until: T0, shard: 0, after: 'a' })).toEqual({
      rows: [
        { key: { dispatchId: 'd1', shard: 0, applyId: 'due' }, since: T0, status: 'PENDING' },
        { key: { dispatchId: 'd1', shard: 0, applyId: 'dead' }, since: T0 - 2, status: 'PROCESSING' },
      ],
      next: { until: T0, shard: 0, after: 'x' },
    });
    expect(dynamo.commandCalls(QueryCommand)[0]?.args[0].input).toMatchObject({
      ConsistentRead: true,
      ExclusiveStartKey: { pk: 'DISPATCH#d1#0', sk: 'RECIPIENT#a' },
    });
  });

  it.each([
    [0, { until: T0, shard: 1 }],
    [1, undefined],
  ])('that is empty is not the end: the last shard is (shard %i, U2)', async (shard, next) => {
    dynamo.on(QueryCommand).resolves({ Items: [] });

    const page = await readOverdueRows(deps, dispatch, ['PROCESSING'], { until: T0, shard });

    expect(page).toEqual({ rows: [], ...(next && { next }) });
  });
});
