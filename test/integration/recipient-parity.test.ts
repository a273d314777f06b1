import { setTimeout as sleep } from 'node:timers/promises';

import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parseRecipientItem, stateAttributes } from '../../lambda/adapters/dynamo/items.ts';
import { contentKey, dispatchKey, recipientKey } from '../../lambda/adapters/dynamo/keys.ts';
import { createRecipientRepository } from '../../lambda/adapters/dynamo/recipient-repository.ts';
import { advance, ATTEMPTS_EXHAUSTED, type Recipient } from '../../lambda/domain/recipient.ts';
import { startTable, type TestTable } from '../support/table.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const ours = { token: 'ours', until: NOW + 300_000 };
const tries = { round: 1, attemptCount: 1 };
const dead = { id: 'dead', sentAt: NOW - 60_000 };

const STATES: readonly (readonly [string, Recipient])[] = [
  ['a pending one that is long due', { ...tries, status: 'PENDING', nextAttemptAt: NOW - 60_000 }],
  ['a pending one due this very millisecond', { ...tries, status: 'PENDING', nextAttemptAt: NOW }],
  ['a pending one due in a millisecond', { ...tries, status: 'PENDING', nextAttemptAt: NOW + 1 }],
  ['one that another worker holds', { ...tries, status: 'PROCESSING', lease: { token: 'theirs', until: NOW + 1 } }],
  ['one whose lease ended this very millisecond', { ...tries, status: 'PROCESSING', lease: { token: 'theirs', until: NOW } }],
  ['one that was claimed with our own token', { ...tries, status: 'PROCESSING', lease: ours }],
  ['one that was sent', { ...tries, status: 'SENT', messageId: 'm-1', sentAt: NOW }],
  ['one that failed for good', { ...tries, status: 'FAILED', lastErrorCode: 'MESSAGE_REJECTED', failedAt: NOW }],
  [
    'one whose attempts are used up',
    { ...tries, status: 'FAILED', lastErrorCode: ATTEMPTS_EXHAUSTED, failedAt: NOW, deadMessage: dead },
  ],
  ['one nobody can be sure of', { ...tries, status: 'UNKNOWN', lastErrorCode: 'OUTCOME_UNCLEAR', failedAt: NOW }],
  ['one that was cancelled', { ...tries, status: 'CANCELLED' }],
];

let table: TestTable;
let count = 0;

beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

const stored = async (recipient: Recipient) => {
  count += 1;
  const key = { dispatchId: `parity${count}`, shard: 0, applyId: `a-${count}` };
  const item = { ...recipientKey(key), email: 'a@example.com', variables: '{}', attempts: [], ...stateAttributes(recipient) };
  const put = (Item: Record<string, unknown>) => table.client.send(new PutCommand({ TableName: table.tableName, Item }));
  await put(item);
  await put({ ...dispatchKey(key.dispatchId), status: 'COMPLETED', generation: 0 });
  await put({ ...contentKey(key.dispatchId), expiresAt: 1 });
  return key;
};

const read = async (key: { dispatchId: string; shard: number; applyId: string }) => {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.tableName, Key: recipientKey(key), ConsistentRead: true }),
  );
  return { row: parseRecipientItem(Item), item: Item };
};

const repository = () =>
  createRecipientRepository({ client: table.client, tableName: table.tableName, retentionDays: 30, sleep });

describe('the condition in the table and the rule in the domain agree on who may claim', () => {
  it.each(STATES)('for %s', async (_name, state) => {
    const key = await stored(state);
    const lease = { token: 'new', until: ours.until };

    const [result] = await repository().claimAll([{ key, lease }], NOW);

    const rule = advance(state, { type: 'claimed', lease }, NOW);
    expect(result?.outcome === 'claimed').toBe(rule.ok);
    expect((await read(key)).row.recipient).toEqual(rule.ok ? rule.next : state);
  });

  it('for one that is not there', async () => {
    const key = { dispatchId: 'nowhere', shard: 0, applyId: 'nobody' };

    expect(await repository().claimAll([{ key, lease: ours }], NOW)).toEqual([{ outcome: 'refused', found: undefined }]);
  });
});

describe('the condition in the table and the rule in the domain agree on whose outcome is recorded', () => {
  it.each(STATES)('for %s', async (_name, state) => {
    const key = await stored(state);
    const rule = advance(state, { type: 'accepted', token: 'ours', messageId: 'm-9' }, NOW);
    const next: Recipient = { ...tries, status: 'SENT', messageId: 'm-9', sentAt: NOW };

    const [result] = await repository().writeAll([{ key, token: 'ours', next, attempts: [] }]);

    expect(result).toBe(rule.ok ? 'written' : 'lease-lost');
    expect((await read(key)).row.recipient).toEqual(rule.ok ? rule.next : state);
  });
});

describe('the condition in the table and the rule in the domain agree on what a redrive reopens', () => {
  const failed = STATES.flatMap(([name, state]) => (state.status === 'FAILED' ? [[name, state] as const] : []));

  it.each(failed)('for %s', async (_name, state) => {
    const key = await stored(state);
    const rule = advance(state, { type: 'redriven', message: { id: 'dead', sentAt: NOW } }, NOW);
    const next: Recipient = {
      round: 2,
      attemptCount: 0,
      status: 'PENDING',
      nextAttemptAt: NOW,
      lastErrorCode: ATTEMPTS_EXHAUSTED,
    };

    const result = await repository().reopen(key, state, next);

    expect(result).toBe(rule.ok ? 'written' : 'lease-lost');
    const { row, item } = await read(key);
    expect(row.recipient).toEqual(rule.ok ? rule.next : state);
    if (rule.ok) expect(item).not.toHaveProperty('expiresAt');
  });

  it('for one that was reopened since it was read', async () => {
    const state = { ...tries, status: 'FAILED', lastErrorCode: ATTEMPTS_EXHAUSTED, failedAt: NOW, deadMessage: dead } as const;
    const key = await stored(state);
    const next: Recipient = { round: 2, attemptCount: 0, status: 'PENDING', nextAttemptAt: NOW };
    await repository().reopen(key, state, next);

    expect(await repository().reopen(key, state, next)).toBe('lease-lost');
  });

  it('together with the dispatch, which is open again', async () => {
    const state = { ...tries, status: 'FAILED', lastErrorCode: ATTEMPTS_EXHAUSTED, failedAt: NOW, deadMessage: dead } as const;
    const key = await stored(state);

    await repository().reopen(key, state, { round: 2, attemptCount: 0, status: 'PENDING', nextAttemptAt: NOW });

    const { Item } = await table.client.send(new GetCommand({ TableName: table.tableName, Key: dispatchKey(key.dispatchId) }));
    expect(Item).toMatchObject({ status: 'IN_PROGRESS', generation: 1, openKey: 'OPEN' });
  });
});

describe('one of many claims', () => {
  it('is granted to exactly one of twenty workers that ask at once (L1)', async () => {
    const key = await stored({ ...tries, status: 'PENDING', nextAttemptAt: NOW });
    const workers = Array.from({ length: 20 }, (_, i) =>
      repository().claimAll([{ key, lease: { token: `w${i}`, until: ours.until } }], NOW),
    );

    const results = (await Promise.all(workers)).flat();

    expect(results.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1);
  });

  it('carries the row as it is after the claim', async () => {
    const key = await stored({ ...tries, status: 'PENDING', nextAttemptAt: NOW });

    const [result] = await repository().claimAll([{ key, lease: ours }], NOW);

    expect(result).toMatchObject({
      outcome: 'claimed',
      claimed: {
        applyId: key.applyId,
        email: 'a@example.com',
        recipient: { status: 'PROCESSING', attemptCount: 2, lease: ours },
        attempts: [{ round: 1, n: 2, lease: 'ours', startedAt: NOW }],
      },
    });
  });
});
