import { describe, expect, it } from 'vitest';

import type { FoundDispatch, ReadRepository, RecipientQuery } from '../../../../../lambda/application/ports/queries.ts';
import { createReadDispatch } from '../../../../../lambda/application/queries/read-dispatch.ts';
import { type Counts, type Deliveries, type Dispatch, NO_COUNTS } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import { shardOf } from '../../../../../lambda/domain/dispatch/shards.ts';
import type { RecipientKey } from '../../../../../lambda/domain/recipient/recipient.ts';
import { aNewDispatch, someRecipientInputs } from '../../../../support/accept-builders.ts';
import { aRecipient, rowCounts, someCounts, someDeliveries } from '../../../../support/builders.ts';

const stored: FoundDispatch = { ...aNewDispatch(someRecipientInputs(5)).dispatch, isOpen: true };
const mine = { adminId: 'admin-1', isOperator: false };
const another = { adminId: 'admin-2', isOperator: false };
const operator = { adminId: 'op', isOperator: true };

const read = (counts: Partial<Counts> = {}, dispatch: FoundDispatch = stored, deliveries: Partial<Deliveries> = {}) => {
  const queries: RecipientQuery[] = [];
  const keys: RecipientKey[] = [];
  const repository: ReadRepository = {
    find: (id) => Promise.resolve(id === dispatch.dispatchId ? dispatch : undefined),
    counts: () => Promise.resolve(rowCounts(counts, deliveries)),
    recipients: (query) => {
      queries.push(query);
      return Promise.resolve({ recipients: [] });
    },
    recipient: (key) => {
      keys.push(key);
      return Promise.resolve(key.applyId === 'a-1' ? aRecipient() : undefined);
    },
  };
  return { queries, keys, ...createReadDispatch(repository) };
};

describe('a dispatch is shown', () => {
  it.each([
    ['to its admin', mine, true],
    ['to an operator', operator, true],
    ['to no other admin (A5)', another, false],
  ])('%s', async (_name, reader, shown) => {
    const use = read();

    expect((await use.dispatch(reader, stored.dispatchId)) !== undefined).toBe(shown);
    expect((await use.recipients(reader, stored.dispatchId, { from: { shard: 0 }, limit: 1 })) !== undefined).toBe(shown);
  });

  it('not at all if there is none', async () => {
    expect(await read().dispatch(operator, 'unknown')).toBeUndefined();
  });

  it('with recipients in batches counted as pending', async () => {
    expect((await read({ PENDING: 1, SENT: 2 }).dispatch(mine, stored.dispatchId))?.counts).toEqual({
      ...NO_COUNTS,
      PENDING: 3,
      SENT: 2,
    });
  });

  it.each<[string, Partial<Counts>, Partial<Dispatch>]>([
    ['as accepted while nothing was tried', { PENDING: 5 }, { status: 'ACCEPTED' }],
    ['as in progress once something was tried', { PENDING: 4, PROCESSING: 1 }, { status: 'IN_PROGRESS' }],
    ['as in progress while batches are left, though all rows are final (U17)', { SENT: 4 }, { status: 'IN_PROGRESS' }],
    ['as completed once all rows are final', { SENT: 5 }, { status: 'COMPLETED', outcome: 'all-sent', needsAttention: false }],
    [
      'as completed with what it came to',
      { SENT: 4, FAILED: 1 },
      { status: 'COMPLETED', outcome: 'partly-sent', needsAttention: true },
    ],
  ])('%s', async (_name, counts, expected) => {
    expect((await read(counts).dispatch(mine, stored.dispatchId))?.dispatch).toEqual({ ...stored, ...expected });
  });

  it.each(['STOPPED', 'CANCELLED'] as const)('as %s whatever its rows say, with what they are', async (status) => {
    const shown = await read({ SENT: 5 }, { ...stored, status }).dispatch(mine, stored.dispatchId);

    expect(shown).toEqual({ dispatch: { ...stored, status }, ...rowCounts({ SENT: 5 }) });
  });

  const completed: FoundDispatch = {
    ...stored,
    status: 'COMPLETED',
    outcome: 'partly-sent',
    needsAttention: true,
    counts: someCounts({ SENT: 4, UNKNOWN: 1 }),
    deliveries: someDeliveries({ delivered: 4 }),
  };

  it.each<[string, Partial<Counts>, object]>([
    ['counted now', { SENT: 4, UNKNOWN: 1 }, { delivered: 3, bounced: 1 }],
    ['of which rows have expired, as far as they are there', { SENT: 4 }, { delivered: 3, bounced: 1 }],
  ])('with deliveries %s, if it was finished before they were counted', async (_name, rows, deliveries) => {
    const { deliveries: kept, ...older } = completed;
    const use = read(rows, { ...older, isOpen: false }, { delivered: 3, bounced: 1 });

    const shown = await use.dispatch(mine, stored.dispatchId);

    expect(shown).toMatchObject({ counts: { SENT: 4, UNKNOWN: 1 }, deliveries });
    expect(shown?.deliveries).not.toEqual(kept);
  });

  it.each<[string, Partial<FoundDispatch>, Partial<Counts>, object]>([
    [
      'with what it was found to come to, though its rows expire',
      { isOpen: false },
      { SENT: 1 },
      { counts: { SENT: 4, UNKNOWN: 1 }, dispatch: { outcome: 'partly-sent', needsAttention: true } },
    ],
    [
      'with what it comes to now, while a change is not counted yet',
      { isOpen: true },
      { SENT: 5 },
      { counts: { SENT: 5, UNKNOWN: 0 }, dispatch: { outcome: 'all-sent', needsAttention: false } },
    ],
    [
      'with what it was found to come to, when rows have expired before a change was counted',
      { isOpen: true },
      { SENT: 2 },
      { counts: { SENT: 4, UNKNOWN: 1 }, dispatch: { outcome: 'partly-sent', needsAttention: true } },
    ],
  ])('%s', async (_name, more, rows, expected) => {
    expect(await read(rows, { ...completed, ...more }).dispatch(mine, stored.dispatchId)).toMatchObject(expected);
  });
});

it('a dispatch is shown with what is known of the mails of its recipients, bad signs among it', async () => {
  const stored = { ...aNewDispatch(someRecipientInputs(60)).dispatch, isOpen: true };

  expect(await read({ SENT: 60 }, stored, { delivered: 49, bounced: 11 }).dispatch(mine, stored.dispatchId)).toMatchObject({
    dispatch: { status: 'COMPLETED', needsAttention: true },
    deliveries: { delivered: 49, bounced: 11, complained: 0 },
  });
});

describe('a dispatch of more than 1,000 recipients', () => {
  const large: FoundDispatch = {
    ...stored,
    total: 1_001,
    status: 'IN_PROGRESS',
    ...rowCounts({ PENDING: 901, SENT: 100 }, { bounced: 2 }),
  };

  it('is shown as progress counted it, without a look at its rows', async () => {
    const shown = await read({ SENT: 1_001 }, large).dispatch(mine, stored.dispatchId);

    expect(shown).toEqual({ dispatch: large, ...rowCounts({ PENDING: 901, SENT: 100 }, { bounced: 2 }) });
  });

  it('is counted for the answer when progress has not counted it', async () => {
    const { deliveries, ...uncounted } = large;
    const shown = await read({ SENT: 1_001 }, uncounted).dispatch(mine, stored.dispatchId);

    expect(deliveries).toBeDefined();
    expect(shown).toMatchObject({ dispatch: { status: 'COMPLETED' }, counts: { SENT: 1_001 } });
  });

  it('is counted for the answer up to that number', async () => {
    const shown = await read({ SENT: 1_000 }, { ...large, total: 1_000 }).dispatch(mine, stored.dispatchId);

    expect(shown).toMatchObject({ dispatch: { status: 'COMPLETED' }, counts: { SENT: 1_000 } });
  });
});

it('recipients are asked for as the reader wants them', async () => {
  const use = read();

  await use.recipients(mine, stored.dispatchId, { from: { shard: 1, after: 'a' }, limit: 7, status: 'FAILED' });

  expect(use.queries).toEqual([{ dispatch: stored, from: { shard: 1, after: 'a' }, limit: 7, status: 'FAILED' }]);
});

describe('a recipient is shown', () => {
  it('from its shard, by the first of its names that there is', async () => {
    const use = read({}, { ...stored, shards: 7 });

    expect(await use.recipient(mine, stored.dispatchId, ['a%2D1', 'a-1'])).toEqual(aRecipient());
    expect(use.keys).toEqual(
      ['a%2D1', 'a-1'].map((applyId) => ({ dispatchId: stored.dispatchId, shard: shardOf(applyId, 7), applyId })),
    );
  });

  it('as missing if it has no row, or no row yet', async () => {
    expect(await read().recipient(mine, stored.dispatchId, ['b'])).toBe('no-recipient');
  });

  it('to no other admin (A5)', async () => {
    const use = read();

    expect(await use.recipient(another, stored.dispatchId, ['a-1'])).toBeUndefined();
    expect(use.keys).toEqual([]);
  });
});
