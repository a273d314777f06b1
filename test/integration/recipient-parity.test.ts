import { setTimeout as sleep } from 'node:timers/promises';

import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { contentKey, dispatchKey, recipientKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { parseRecipientItem, stateAttributes } from '../../lambda/adapters/dynamo/recipient/items.ts';
import { createRecipientRepository } from '../../lambda/adapters/dynamo/recipient/recipient-repository.ts';
import type { StoredRecipient } from '../../lambda/application/ports/recipients.ts';
import type { DispatchStatus } from '../../lambda/domain/dispatch/dispatch.ts';
import {
  advance,
  ATTEMPTS_EXHAUSTED,
  isFinal,
  type Recipient,
  type RecipientIn,
} from '../../lambda/domain/recipient/recipient.ts';
import { toIso } from '../../lambda/domain/shared/instant.ts';
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
  ['one that was cancelled', { ...tries, status: 'CANCELLED', cancelledAt: NOW }],
];

let table: TestTable;
let count = 0;

beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

const stored = async (recipient: Recipient, dispatch: DispatchStatus = 'COMPLETED') => {
  count += 1;
  const key = { dispatchId: `parity${count}`, shard: 0, applyId: `a-${count}` };
  const item = { ...recipientKey(key), email: 'a@example.com', variables: '{}', attempts: [], ...stateAttributes(recipient) };
  const put = (Item: Record<string, unknown>) => table.client.send(new PutCommand({ TableName: table.tableName, Item }));
  await put(item);
  await put({ ...dispatchKey(key.dispatchId), status: dispatch, generation: 0 });
  await put({ ...contentKey(key.dispatchId), expiresAt: 1 });
  return key;
};

const get = async (Key: { pk: string; sk: string }) =>
  (await table.client.send(new GetCommand({ TableName: table.tableName, Key, ConsistentRead: true }))).Item;

const read = async (key: { dispatchId: string; shard: number; applyId: string }) => {
  const item = await get(recipientKey(key));
  return { row: parseRecipientItem(item), item };
};

const readDispatch = (dispatchId: string) => get(dispatchKey(dispatchId));
const readContent = (dispatchId: string) => get(contentKey(dispatchId));

const repository = () =>
  createRecipientRepository({
    client: table.client,
    tableName: table.tableName,
    retentionDays: 30,
    clock: () => NOW,
    random: Math.random,
    sleep,
  });

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

    expect(result).toBe(rule.ok ? 'written' : 'conflict');
    expect((await read(key)).row.recipient).toEqual(rule.ok ? rule.next : state);
  });
});

describe('the condition in the table and the rule in the domain agree on who resolves an ended lease', () => {
  it.each(STATES)('for %s', async (_name, state) => {
    const key = await stored(state);
    const now = ours.until;
    const rule = advance(state, { type: 'resolved-unknown', token: 'ours' }, now);

    const written = await repository().applyPatch(key, (row) => {
      const transition = advance(row.recipient, { type: 'resolved-unknown', token: 'ours' }, now);
      return transition.ok ? { ...row, recipient: transition.next } : undefined;
    });

    expect(written).toBe(rule.ok ? 'written' : 'unchanged');
    const { row, item } = await read(key);
    expect(row.recipient).toEqual(rule.ok ? rule.next : state);
    if (rule.ok) expect(item).toMatchObject({ expiresAt: now / 1000 + 30 * 86_400 });
  });

  it('one of five walks, and not a late holder as well', async () => {
    const key = await stored({ ...tries, status: 'PROCESSING', lease: ours });
    const resolve = (i: number) =>
      repository().applyPatch(key, (row) => {
        if (row.recipient.status !== 'PROCESSING') return undefined;
        const next: Recipient = { ...tries, status: 'PENDING', nextAttemptAt: NOW + i, lastErrorCode: 'OUTCOME_UNCLEAR' };
        return { ...row, recipient: next };
      });
    const late = { ...tries, status: 'SENT', messageId: 'm-9', sentAt: NOW } as const;

    const [holder, ...walks] = await Promise.all([
      repository().writeAll([{ key, token: 'ours', next: late, attempts: [] }]),
      ...Array.from({ length: 5 }, (_, i) => resolve(i)),
    ]);

    expect([...holder, ...walks].filter((result) => result === 'written')).toHaveLength(1);
  });
});

describe('the condition in the table and the rule in the domain agree on what is cancelled', () => {
  it.each(STATES)('for %s', async (_name, state) => {
    const key = await stored(state);
    const rule = advance(state, { type: 'cancelled' }, NOW);

    const result = await repository().cancel(key, NOW);

    expect(result).toBe(rule.ok ? 'written' : 'conflict');
    const { row, item } = await read(key);
    expect(row.recipient).toEqual(rule.ok ? rule.next : state);
    if (rule.ok) expect(item).toMatchObject({ expiresAt: NOW / 1000 + 30 * 86_400 });
  });

  it('for one that is not there', async () => {
    expect(await repository().cancel({ dispatchId: 'nowhere', shard: 0, applyId: 'nobody' }, NOW)).toBe('conflict');
  });
});

describe('an event of SES', () => {
  const sentAt = NOW - 5_000;
  const event = { kind: 'send', messageId: 'm-9', at: sentAt } as const;
  const confirm = (row: StoredRecipient) => {
    const rule = advance(row.recipient, { type: 'confirmed', messageId: 'm-9', sentAt }, NOW);
    return { ...row, recipient: rule.ok ? rule.next : row.recipient, delivery: 'delivered' as const, events: [event] };
  };

  it.each(STATES)(
    'is stored with what it makes of %s, and its dispatch is looked over again if that was final',
    async (_name, state) => {
      const key = await stored(state);
      const rule = advance(state, { type: 'confirmed', messageId: 'm-9', sentAt }, NOW);

      expect(await repository().applyPatch(key, confirm)).toBe('written');

      const { row, item } = await read(key);
      expect(row).toMatchObject({ recipient: rule.ok ? rule.next : state, delivery: 'delivered', events: [event] });
      if (rule.ok) expect(item).toMatchObject({ expiresAt: sentAt / 1000 + 30 * 86_400 });
      else expect(item).not.toHaveProperty('expiresAt');
      const dispatch = await readDispatch(key.dispatchId);
      if (rule.ok && isFinal(state.status))
        expect(dispatch).toMatchObject({ status: 'COMPLETED', openKey: 'OPEN', generation: 1 });
      else expect(dispatch).toEqual({ ...dispatchKey(key.dispatchId), status: 'COMPLETED', generation: 0 });
    },
  );

  it('and a claim at the same time lose nothing of each other, whoever is first', async () => {
    const key = await stored({ ...tries, status: 'PENDING', nextAttemptAt: NOW });

    const [patched, ...claims] = await Promise.all([
      repository().applyPatch(key, confirm),
      ...['w1', 'w2', 'w3'].map((token) => repository().claimAll([{ key, lease: { token, until: ours.until } }], NOW)),
    ]);

    expect(patched).toBe('written');
    const { row } = await read(key);
    expect(row).toMatchObject({ recipient: { status: 'SENT', messageId: 'm-9' }, events: [event] });
    expect(row.attempts).toHaveLength(claims.flat().filter(({ outcome }) => outcome === 'claimed').length);
  });

  it('loses none of eight that come at once', async () => {
    const key = await stored({ ...tries, status: 'SENT', messageId: 'm-9', sentAt });
    const add = (n: number) =>
      repository().applyPatch(key, (row) => ({ ...row, events: [...row.events, { ...event, at: sentAt + n }] }));
    let open = [0, 1, 2, 3, 4, 5, 6, 7];
    while (open.length > 0) {
      const results = await Promise.all(open.map(add));
      open = open.filter((_, i) => results[i] !== 'written');
    }

    expect((await read(key)).row.events.map(({ at }) => at - sentAt).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('for a row that is gone, or whose dispatch is gone, is dropped', async () => {
    const key = await stored({ ...tries, status: 'CANCELLED', cancelledAt: NOW });
    await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: dispatchKey(key.dispatchId) }));

    expect(await repository().applyPatch(key, confirm)).toBe('gone');
    expect(await readDispatch(key.dispatchId)).toBeUndefined();
    expect(await repository().applyPatch({ ...key, applyId: 'nobody' }, confirm)).toBe('gone');
  });

  it('that says nothing new writes nothing', async () => {
    const key = await stored({ ...tries, status: 'SENT', messageId: 'm-9', sentAt });
    const before = await read(key);

    expect(await repository().applyPatch(key, () => undefined)).toBe('unchanged');
    expect(await read(key)).toEqual(before);
  });
});

describe('the condition in the table and the rule in the domain agree on what a redrive reopens', () => {
  const failed = STATES.flatMap(([name, state]) => (state.status === 'FAILED' ? [[name, state] as const] : []));

  it.each(failed)('for %s', async (_name, state) => {
    const rule = advance(state, { type: 'redriven', message: { id: 'dead', sentAt: NOW } }, NOW);
    const key = await stored(state);

    const result = rule.ok ? await repository().reopen(key, state, rule.next, 'COMPLETED') : 'not asked';

    expect(result).toBe(rule.ok ? 'written' : 'not asked');
    const { row, item } = await read(key);
    expect(row.recipient).toEqual(rule.ok ? rule.next : state);
    expect(item).not.toHaveProperty('expiresAt');
  });
});

describe('reopening', () => {
  const final: readonly RecipientIn<'FAILED' | 'UNKNOWN'>[] = STATES.flatMap(([, state]) =>
    state.status === 'FAILED' || state.status === 'UNKNOWN' ? [state] : [],
  );
  const [exhausted] = final.filter(({ lastErrorCode }) => lastErrorCode === ATTEMPTS_EXHAUSTED);
  if (exhausted === undefined) throw new Error('no such state');
  const reopened = (state: Recipient): Recipient => {
    const rule = advance(state, { type: 'reopened' }, NOW);
    if (!rule.ok) throw new Error(rule.because);
    return rule.next;
  };

  describe.each(final)('one that is $status by $lastErrorCode', (state) => {
    it.each<[DispatchStatus, DispatchStatus | undefined]>([
      ['ACCEPTED', 'IN_PROGRESS'],
      ['IN_PROGRESS', 'IN_PROGRESS'],
      ['COMPLETED', 'IN_PROGRESS'],
      ['STOPPED', 'STOPPED'],
      ['CANCELLED', undefined],
    ])('of a dispatch that is %s leaves that %s', async (before, after) => {
      const key = await stored(state, before);

      const result = await repository().reopen(key, state, reopened(state), before);

      const { row, item } = await read(key);
      const dispatch = await readDispatch(key.dispatchId);
      if (after === undefined) {
        expect(result).toBe('conflict');
        expect(row.recipient).toEqual(state);
        expect(dispatch).toEqual({ ...dispatchKey(key.dispatchId), status: before, generation: 0 });
        return;
      }
      expect(result).toBe('written');
      expect(row.recipient).toEqual(reopened(state));
      expect(item).not.toHaveProperty('expiresAt');
      // What bounced before it was completed is no reason to stop it now.
      const since = before === 'COMPLETED' && { statisticsSince: toIso(NOW) };
      const opened = { status: after, generation: 1, openKey: 'OPEN', ...since };
      expect(dispatch).toEqual({ ...dispatchKey(key.dispatchId), ...opened });
      expect(await readContent(key.dispatchId)).not.toHaveProperty('expiresAt');
    });
  });

  it.each<[DispatchStatus, DispatchStatus]>([
    ['IN_PROGRESS', 'STOPPED'],
    ['STOPPED', 'IN_PROGRESS'],
    ['IN_PROGRESS', 'CANCELLED'],
  ])('does not happen in a dispatch taken for %s that is %s by now', async (seen, status) => {
    const key = await stored(exhausted, status);

    expect(await repository().reopen(key, exhausted, reopened(exhausted), seen)).toBe('conflict');
    expect((await read(key)).row.recipient).toEqual(exhausted);
  });

  it('happens once', async () => {
    const key = await stored(exhausted);
    await repository().reopen(key, exhausted, reopened(exhausted), 'COMPLETED');

    expect(await repository().reopen(key, exhausted, reopened(exhausted), 'IN_PROGRESS')).toBe('conflict');
    expect(await readDispatch(key.dispatchId)).toMatchObject({ generation: 1 });
  });

  it.each<[string, Partial<RecipientIn<'FAILED'>>]>([
    ['of an earlier round', { round: 2 }],
    ['by another code', { lastErrorCode: 'MESSAGE_REJECTED' }],
    ['at another instant', { failedAt: NOW - 1 }],
  ])('does not happen for a failure %s', async (_name, other) => {
    const key = await stored(exhausted);

    expect(await repository().reopen(key, { ...exhausted, ...other }, reopened(exhausted), 'COMPLETED')).toBe('conflict');
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
