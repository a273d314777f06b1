import { describe, expect, it } from 'vitest';

import type { DispatchQuery } from '../../../../../lambda/application/ports/queries.ts';
import { createListDispatches } from '../../../../../lambda/application/queries/list-dispatches.ts';
import { createReadExport } from '../../../../../lambda/application/queries/read-export.ts';
import { aDispatch, DISPATCH_ID } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const mine = { adminId: 'admin-1', isOperator: false };
const operator = { adminId: 'op', isOperator: true };
const request = { open: false, isTest: false, limit: 20 };

const list = async (reader: typeof mine, more: object) => {
  const queries: DispatchQuery[] = [];
  const use = createListDispatches({
    list: (query) => {
      queries.push(query);
      return Promise.resolve({ dispatches: [] });
    },
  });
  return { result: await use(reader, { ...request, ...more }), queries };
};

describe('a list', () => {
  it.each([
    ['one’s own', mine, {}, { adminId: 'admin-1' }],
    ['one’s own, named', mine, { admin: 'admin-1' }, { adminId: 'admin-1' }],
    ['another’s, for an operator', operator, { admin: 'admin-1' }, { adminId: 'admin-1' }],
    ['all that are open, for an operator', operator, { open: true }, 'open'],
  ])('is of %s', async (_name, reader, more, of) => {
    expect((await list(reader, more)).queries).toEqual([{ of, isTest: false, limit: 20 }]);
  });

  it.each([{ admin: 'admin-2' }, { open: true }])('of others is refused to an admin (A7): %j', async (more) => {
    expect(await list(mine, more)).toEqual({ result: 'operators-only', queries: [] });
  });
});

describe('an export', () => {
  const KEY = { dispatchId: DISPATCH_ID, task: 2 };
  const read = (doneAt: number | undefined, reader = mine, now = T0 + 60_000) =>
    createReadExport(
      { find: () => Promise.resolve({ ...aDispatch(), isOpen: false }) },
      {
        find: ({ task }) =>
          Promise.resolve(task === 2 ? { requestedAt: T0, written: 7, ...(doneAt !== undefined && { doneAt }) } : undefined),
        address: () => Promise.resolve({ url: 'https://files.example.org/x', until: now + 300_000 }),
      },
      () => now,
    )(reader, KEY);

  it('has an address once it is done, for as long as its file is kept', async () => {
    expect(await read(undefined)).toEqual({ state: 'running', requestedAt: T0, written: 7 });
    expect(await read(T0 + 9)).toMatchObject({ state: 'done', url: 'https://files.example.org/x', until: T0 + 360_000 });
    const gone = await read(T0 + 9, mine, T0 + 9 + 86_400_000);
    expect(gone).toMatchObject({ state: 'gone' });
    expect(gone).not.toHaveProperty('url');
  });

  it('is shown to its admin and to operators (A5)', async () => {
    expect(await read(T0, { adminId: 'admin-2', isOperator: false })).toBe('not-found');
    expect(await read(T0, operator)).toMatchObject({ state: 'done' });
  });
});
