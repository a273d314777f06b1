import { DynamoDBDocumentClient, GetCommand, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createReadRepository } from '../../../../../../lambda/adapters/dynamo/query/read-repository.ts';
import { newRecipientItem } from '../../../../../../lambda/adapters/dynamo/recipient/items.ts';
import { Unavailable } from '../../../../../../lambda/application/ports/errors.ts';
import type { RecipientPosition, RecipientQuery } from '../../../../../../lambda/application/ports/queries.ts';
import { aDispatch, rowCounts } from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const table = mockClient(DynamoDBDocumentClient);
const repository = createReadRepository(documentClient(), 'mail', () => T0);
const dispatch = { dispatchId: 'd1', shards: 3 };

const row = (shard: number, applyId: string, more: object = {}) => ({
  pk: `DISPATCH#d1#${shard}`,
  sk: `RECIPIENT#${applyId}`,
  ...newRecipientItem('kim@example.com', {}, T0),
  ...more,
});
const SENT = { status: 'SENT', messageId: 'ses-1', sentAt: '2026-03-02T09:00:00.000Z' };

/** A table that answers queries by key, in order, with filter and limit, as DynamoDB does. */
const serve = (rows: readonly Record<string, unknown>[], rowsPerQuery = 1_000): void => {
  table.on(QueryCommand).callsFake((input: QueryCommandInput) => {
    const { ':pk': pk, ':status': status } = input.ExpressionAttributeValues ?? {};
    const after = String(input.ExclusiveStartKey?.['sk'] ?? '');
    const left = rows.filter((item) => item['pk'] === pk && String(item['sk']) > after);
    const scanned = left.slice(0, Math.min(rowsPerQuery, input.Limit ?? rowsPerQuery));
    const last = scanned.at(-1);
    return {
      Items: input.FilterExpression === undefined ? scanned : scanned.filter((item) => item['status'] === status),
      ScannedCount: scanned.length,
      ...(scanned.length < left.length && { LastEvaluatedKey: { pk: last?.['pk'], sk: last?.['sk'] } }),
    };
  });
};

const readAll = async (query: Omit<RecipientQuery, 'from'>): Promise<string[][]> => {
  const pages: string[][] = [];
  let from: RecipientPosition | undefined = { shard: 0 };
  while (from !== undefined) {
    const page = await repository.recipients({ ...query, from });
    pages.push(page.recipients.map(({ applyId }) => applyId));
    from = page.next;
  }
  return pages;
};

beforeEach(() => {
  table.reset();
});

describe('a page of recipients', () => {
  const rows = [row(0, 'a'), row(0, 'b', SENT), row(0, 'c'), row(2, 'd', SENT), row(2, 'e')];

  it('goes on over shards, empty ones too, and ends with the last', async () => {
    serve(rows);

    expect(await readAll({ dispatch, limit: 2 })).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('is the last one when it ends with the last row', async () => {
    serve(rows);

    expect(await readAll({ dispatch, limit: 5 })).toEqual([['a', 'b', 'c', 'd', 'e']]);
  });

  it.each([1, 2, 1_000])('shows every row of a status once, with %d rows a query', async (rowsPerQuery) => {
    serve(rows, rowsPerQuery);

    expect((await readAll({ dispatch, status: 'SENT', limit: 1 })).flat()).toEqual(['b', 'd']);
  });

  it('goes on within a query that found more than the page holds', async () => {
    serve(Array.from({ length: 9 }, (_, i) => row(1, `${i}`, SENT)));

    expect(await readAll({ dispatch, status: 'SENT', limit: 4 })).toEqual([['0', '1', '2', '3'], ['4', '5', '6', '7'], ['8']]);
  });

  it('may be empty and not be the last, when thousands of rows are passed over (U2)', async () => {
    serve([...Array.from({ length: 12_000 }, (_, i) => row(0, String(i).padStart(5, '0'))), row(2, 'z', SENT)]);

    expect(await readAll({ dispatch, status: 'SENT', limit: 10 })).toEqual([[], ['z']]);
  });

  it('is asked for by shard, place, status and number', async () => {
    serve(rows);

    await repository.recipients({ dispatch, status: 'FAILED', from: { shard: 2, after: 'd' }, limit: 7 });

    expect(table.commandCalls(QueryCommand).map(({ args }) => args[0].input)).toEqual([
      {
        TableName: 'mail',
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        FilterExpression: '#status = :status',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':pk': 'DISPATCH#d1#2', ':prefix': 'RECIPIENT#', ':status': 'FAILED' },
        ExclusiveStartKey: { pk: 'DISPATCH#d1#2', sk: 'RECIPIENT#d' },
        Limit: 1_000,
      },
    ]);
  });

  it('is empty and the last beyond the last shard', async () => {
    serve(rows);

    expect(await repository.recipients({ dispatch, from: { shard: 3 }, limit: 5 })).toEqual({ recipients: [] });
  });

  it('tells how far a mail got', async () => {
    const events = [{ kind: 'bounce', messageId: 'ses-1', at: '2026-03-02T09:00:00.000Z', detail: 'Permanent/General' }];
    serve([row(0, 'a', { ...SENT, delivery: 'bounced', events })]);

    expect((await repository.recipients({ dispatch, from: { shard: 0 }, limit: 5 })).recipients[0]).toMatchObject({
      applyId: 'a',
      email: 'kim@example.com',
      delivery: 'bounced',
      events: [{ kind: 'bounce', messageId: 'ses-1', at: T0, detail: 'Permanent/General' }],
      recipient: { status: 'SENT', messageId: 'ses-1', sentAt: T0 },
    });
  });
});

describe('counts', () => {
  it('are of the rows of all shards, page after page', async () => {
    serve(
      [
        row(0, 'a'),
        row(0, 'b', SENT),
        row(0, 'c', { status: 'FAILED' }),
        row(1, 'd', { status: 'UNKNOWN' }),
        row(2, 'e', { ...SENT, delivery: 'bounced' }),
      ],
      1,
    );

    const counted = rowCounts({ PENDING: 1, SENT: 2, FAILED: 1, UNKNOWN: 1 }, { bounced: 1 });
    expect(await repository.counts(dispatch)).toEqual({ ...counted, frozen: counted.counts });
  });

  it('leave out a row that no version of this code wrote, so that the dispatch can still be read', async () => {
    serve([row(0, 'a'), row(0, 'b', { status: 'LOST' }), row(1, 'c', SENT)]);

    expect(await repository.counts(dispatch)).toMatchObject(rowCounts({ PENDING: 1, SENT: 1 }));
  });
});

describe('a dispatch', () => {
  const item = { ...aDispatch(), createdAt: '2026-03-02T09:00:00.000Z' };

  it.each([
    ['OPEN', true],
    [undefined, false],
  ])('is to be looked at again by the sweeper with the open key %s: %o', async (openKey, isOpen) => {
    table.on(GetCommand).resolves({ Item: { ...item, openKey } });

    expect(await repository.find('d1spatch')).toEqual({ ...aDispatch(), isOpen });
  });
});

describe('the table', () => {
  it.each([
    ['a dispatch', () => repository.find('d1')],
    ['counts', () => repository.counts(dispatch)],
    ['recipients', () => repository.recipients({ dispatch, from: { shard: 0 }, limit: 1 })],
  ])('that cannot be reached for %s asks for patience', async (_name, read) => {
    table.on(GetCommand).rejects(sdkError('TimeoutError')).on(QueryCommand).rejects(sdkError('ThrottlingException', 400));

    await expect(read()).rejects.toBeInstanceOf(Unavailable);
  });

  it('that refuses is not hidden', async () => {
    table.on(GetCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(repository.find('d1')).rejects.toThrow('AccessDenied');
  });

  it('may have no such dispatch', async () => {
    table.on(GetCommand).resolves({});

    expect(await repository.find('d1')).toBeUndefined();
  });
});
