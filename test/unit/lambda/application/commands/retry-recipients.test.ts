import { describe, expect, it } from 'vitest';

import { createRetryRecipients } from '../../../../../lambda/application/commands/retry-recipients.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import type { Dispatch } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import {
  aDispatch,
  aKey,
  aRecipient,
  cancelled,
  DISPATCH_ID,
  failed,
  pending,
  sent,
  unknown,
} from '../../../../support/builders.ts';
import { createFakeClock } from '../../../../support/clock.ts';
import { createFakeRecipients } from '../../../../support/fakes.ts';

const OWNER = { adminId: 'admin-1', isOperator: false };
const ROWS = { failed: failed(), unknown: unknown(), sent: sent(), pending: pending(), cancelled };

const world = (stored: Partial<Dispatch> = {}, hasContent = true) => {
  const clock = createFakeClock();
  const recipients = createFakeRecipients(Object.entries(ROWS).map(([id, row]) => [aKey(id), aRecipient(row, { applyId: id })]));
  const dispatch = aDispatch({ status: 'COMPLETED', ...stored });
  const retry = createRetryRecipients({
    dispatches: {
      find: (id) => Promise.resolve(id === DISPATCH_ID ? { dispatch, tasks: 0 } : undefined),
      hasContent: () => Promise.resolve(hasContent),
    },
    tasks: { dispatch: () => Promise.resolve(dispatch) },
    recipients,
    clock: clock.now,
    sleep: clock.sleep,
  });
  const run = (
    applyIds: readonly string[],
    statuses: readonly ('FAILED' | 'UNKNOWN')[] = ['FAILED', 'UNKNOWN'],
    person = OWNER,
  ) => retry(person, DISPATCH_ID, { statuses, applyIds });
  return { run, recipients };
};

describe('recipients that are sent to again', () => {
  it('are those in the states that were asked for; of the others it is told how they are (U20)', async () => {
    const { run, recipients } = world();

    expect(await run([...Object.keys(ROWS), 'nobody'])).toEqual([
      { applyId: 'failed', result: 'reopened', status: 'PENDING' },
      { applyId: 'unknown', result: 'reopened', status: 'PENDING' },
      { applyId: 'sent', result: 'left-alone', status: 'SENT' },
      { applyId: 'pending', result: 'left-alone', status: 'PENDING' },
      { applyId: 'cancelled', result: 'left-alone', status: 'CANCELLED' },
      { applyId: 'nobody', result: 'no-such-recipient' },
    ]);
    expect(recipients.get(aKey('failed'))?.recipient).toMatchObject({ status: 'PENDING', round: 2 });
    expect(recipients.get(aKey('sent'))?.recipient).toEqual(sent());
  });

  it('are not those of whom nobody knows, unless that was asked for', async () => {
    expect(await world().run(['unknown'], ['FAILED'])).toEqual([{ applyId: 'unknown', result: 'left-alone', status: 'UNKNOWN' }]);
  });

  it('get one more round, however often they are named and asked about', async () => {
    const { run, recipients } = world();

    expect(await run(['failed', 'failed'])).toHaveLength(1);
    expect(await run(['failed'])).toEqual([{ applyId: 'failed', result: 'left-alone', status: 'PENDING' }]);
    expect(recipients.get(aKey('failed'))?.recipient.round).toBe(2);
  });
});

describe('nothing is sent again', () => {
  it.each<[string, Partial<Dispatch>, boolean, string]>([
    ['in a dispatch that is cancelled', { status: 'CANCELLED' }, true, 'already-cancelled'],
    ['of which the content is gone', {}, false, 'expired'],
    ['of another admin (A5)', { adminId: 'admin-2' }, true, 'not-found'],
  ])('%s', async (_name, stored, hasContent, expected) => {
    const { run, recipients } = world(stored, hasContent);

    expect(await run(['failed'])).toBe(expected);
    expect(recipients.get(aKey('failed'))?.recipient).toEqual(failed());
  });

  it('while the table does not answer, and what was done is told', async () => {
    const { run, recipients } = world();
    recipients.outage = (_step, { applyId }) => applyId === 'unknown';

    expect(await run(['failed', 'unknown'])).toMatchObject([{ result: 'reopened' }, { result: 'unavailable' }]);
    recipients.outage = () => true;
    await expect(run(['unknown'])).rejects.toThrow(Unavailable);
  });
});
