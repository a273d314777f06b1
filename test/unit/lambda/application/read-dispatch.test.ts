import { describe, expect, it } from 'vitest';

import { createReadDispatch } from '../../../../lambda/application/read-dispatch.ts';
import type { ReadRepository, RecipientQuery } from '../../../../lambda/application/read-ports.ts';
import { type Counts, type Dispatch, NO_COUNTS } from '../../../../lambda/domain/dispatch.ts';
import { aNewDispatch, someAddressees } from '../../../support/accept-builders.ts';

const stored: Dispatch = aNewDispatch(someAddressees(5)).dispatch;
const mine = { adminId: 'admin-1', isOperator: false };
const another = { adminId: 'admin-2', isOperator: false };
const operator = { adminId: 'op', isOperator: true };

const read = (counts: Partial<Counts> = {}, dispatch: Dispatch = stored) => {
  const queries: RecipientQuery[] = [];
  const repository: ReadRepository = {
    find: (id) => Promise.resolve(id === dispatch.dispatchId ? dispatch : undefined),
    counts: () => Promise.resolve({ ...NO_COUNTS, ...counts }),
    recipients: (query) => {
      queries.push(query);
      return Promise.resolve({ recipients: [] });
    },
  };
  return { queries, ...createReadDispatch(repository) };
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
    ['as completed once all rows are final', { SENT: 5 }, { status: 'COMPLETED', outcome: 'all-sent' }],
    ['as completed with what it came to', { SENT: 4, FAILED: 1 }, { status: 'COMPLETED', outcome: 'partly-sent' }],
  ])('%s', async (_name, counts, expected) => {
    expect((await read(counts).dispatch(mine, stored.dispatchId))?.dispatch).toEqual({ ...stored, ...expected });
  });

  it('with its stored outcome', async () => {
    const completed: Dispatch = { ...stored, status: 'COMPLETED', outcome: 'none-sent' };

    expect((await read({ SENT: 5 }, completed).dispatch(mine, stored.dispatchId))?.dispatch.outcome).toBe('none-sent');
  });
});

it('recipients are asked for as the reader wants them', async () => {
  const use = read();

  await use.recipients(mine, stored.dispatchId, { from: { shard: 1, after: 'a' }, limit: 7, status: 'FAILED' });

  expect(use.queries).toEqual([{ dispatch: stored, from: { shard: 1, after: 'a' }, limit: 7, status: 'FAILED' }]);
});
