import { describe, expect, it } from 'vitest';

import { createSettleRecipients } from '../../../../../lambda/application/commands/settle-recipients.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import { aDispatch, aKey, aRecipient, DISPATCH_ID, pending, sent, unknown } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { createFakeRecipients } from '../../../../support/fakes.ts';

const OWNER = { adminId: 'admin-1', isOperator: false };
const WORD = { as: 'failed', note: 'not in the log' } as const;

const world = () => {
  const rows = { a: unknown(), b: sent(), c: unknown(), d: pending() };
  const recipients = createFakeRecipients(
    Object.entries(rows).map(([applyId, recipient]) => [aKey(applyId), aRecipient(recipient, { applyId })]),
  );
  const settle = createSettleRecipients({
    dispatches: { find: (id) => Promise.resolve(id === DISPATCH_ID ? { dispatch: aDispatch(), tasks: 0 } : undefined) },
    recipients,
    clock: () => T0 + 9,
  });
  return { settle, recipients, row: (applyId: string) => recipients.get(aKey(applyId)) };
};

describe('several recipients', () => {
  it('are settled by one word, each that is UNKNOWN, with who said so, when and why', async () => {
    const { settle, row } = world();
    const before = [row('b'), row('d')];

    expect(await settle(OWNER, DISPATCH_ID, ['a', 'b', 'c', 'd', 'nobody', 'a'], WORD)).toEqual([
      { applyId: 'a', result: 'settled', status: 'FAILED', isNew: true },
      { applyId: 'b', result: 'left-alone', status: 'SENT', isNew: false },
      { applyId: 'c', result: 'settled', status: 'FAILED', isNew: true },
      { applyId: 'd', result: 'left-alone', status: 'PENDING', isNew: false },
      { applyId: 'nobody', result: 'no-such-recipient', isNew: false },
    ]);
    for (const applyId of ['a', 'c']) {
      expect(row(applyId)).toMatchObject({
        recipient: { status: 'FAILED', lastErrorCode: 'SETTLED_BY_OPERATOR', failedAt: T0 + 9 },
        settled: { ...WORD, who: 'admin-1', at: T0 + 9 },
      });
    }
    expect([row('b'), row('d')]).toEqual(before);
  });

  it('are settled once: the same word again changes nothing, another leaves them alone', async () => {
    const { settle, row } = world();
    await settle(OWNER, DISPATCH_ID, ['a'], WORD);
    const before = row('a');

    expect(await settle(OWNER, DISPATCH_ID, ['a'], WORD)).toMatchObject([{ result: 'settled', isNew: false }]);
    expect(await settle(OWNER, DISPATCH_ID, ['a'], { as: 'sent', note: 'x' })).toMatchObject([{ result: 'left-alone' }]);
    expect(row('a')).toEqual(before);
  });

  it('say which the table did not answer for, and fail only if it answered for none', async () => {
    const { settle, recipients } = world();
    recipients.outage = (_step, { applyId }) => applyId === 'a';

    expect(await settle(OWNER, DISPATCH_ID, ['a', 'c'], WORD)).toMatchObject([{ result: 'unavailable' }, { result: 'settled' }]);
    await expect(settle(OWNER, DISPATCH_ID, ['a'], WORD)).rejects.toThrow(Unavailable);
  });

  it('of another admin are not there, but are for an operator (A5)', async () => {
    const { settle, row } = world();
    const other = { adminId: 'admin-2', isOperator: false };

    expect(await settle(other, DISPATCH_ID, ['a'], WORD)).toBe('not-found');
    expect(await settle(other, 'nowhere', ['a'], WORD)).toBe('not-found');
    expect(row('a')?.recipient.status).toBe('UNKNOWN');
    expect(await settle({ ...other, isOperator: true }, DISPATCH_ID, ['a'], WORD)).toMatchObject([{ result: 'settled' }]);
    expect(row('a')?.settled?.who).toBe('admin-2');
  });
});
