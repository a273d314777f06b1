import { describe, expect, it } from 'vitest';

import { RawRow } from '../../../../local/table-rows.ts';
import { type Allowed, examine } from '../../../chaos/invariants.ts';

const ALLOWED: Allowed = { duplicates: 0, attemptsPerRound: 2, events: true };
const requested = [{ applyId: 'a', email: 'a@example.com' }];

const attempt = (lease: string, result: object = {}) => ({ round: 1, n: 1, lease, ...result });
const sentBy = (messageId: string) => attempt(`lease of ${messageId}`, { outcome: 'sent', messageId });
const aRow = (row: object = {}) =>
  RawRow.parse({
    pk: 'DISPATCH#d#0',
    sk: 'RECIPIENT#a',
    email: 'a@example.com',
    status: 'SENT',
    round: 1,
    attemptCount: 1,
    messageId: 'm-1',
    attempts: [sentBy('m-1')],
    ...row,
  });
const aMail = (messageId = 'm-1', applyId = 'a', to = 'a@example.com') => ({
  messageId,
  to: [to],
  subject: 's',
  tags: { dispatchId: 'd', recipient: Buffer.from(applyId).toString('base64url') },
});

describe('a look from outside', () => {
  it('finds nothing wrong with one mail for one recipient', () => {
    const { tally, faults } = examine({ requested, rows: [aRow()], mails: [aMail()] }, ALLOWED);

    expect(faults).toEqual([]);
    expect(tally).toEqual({ total: 1, sent: 1, failed: 0, unknown: 0, cancelled: 0, lost: 0, duplicates: 0 });
  });

  it.each([
    ['a recipient without a row', [], [aMail()], 'has 0 rows'],
    ['a mail that nobody asked for', [aRow()], [aMail(), aMail('m-9', 'b')], 'b was never asked for'],
    ['a row that is not final', [aRow({ status: 'PROCESSING' })], [], 'is still PROCESSING'],
    ['a mail to another address', [aRow()], [aMail('m-1', 'a', 'b@example.com')], 'sent to another address'],
    ['another address in the row', [aRow({ email: 'b@example.com' })], [aMail()], 'another address in its row'],
    ['a message id that SES never gave', [aRow({ messageId: 'm-2' })], [aMail()], 'message id that SES never gave'],
    ['a mail of one that counts as failed', [aRow({ status: 'FAILED', lastErrorCode: 'X' })], [aMail()], 'but SES took a mail'],
    ['a failure without a reason', [aRow({ status: 'FAILED' })], [], 'does not say why'],
    ['one sent to nobody', [aRow()], [], 'got no mail'],
    ['an unknown outcome that was known', [aRow({ status: 'UNKNOWN' })], [], 'without an unclear attempt'],
    [
      'an unknown outcome after one lost answer',
      [aRow({ status: 'UNKNOWN', lastErrorCode: 'OUTCOME_UNCLEAR', attempts: [attempt('x', { outcome: 'unclear' })] })],
      [],
      'after one unclear attempt',
    ],
    ['too many attempts', [aRow({ attemptCount: 3 })], [aMail()], 'tried too often'],
    ['a second mail', [aRow({ attempts: [sentBy('m-1'), sentBy('m-2')] })], [aMail(), aMail('m-2')], 'more than one mail'],
    ['a second mail that no attempt tells of', [aRow()], [aMail(), aMail('m-2')], 'hide 1'],
  ])('finds %s', (_name, rows, mails, fault) => {
    const { faults } = examine({ requested, rows, mails }, ALLOWED);

    expect(faults.join('\n')).toContain(fault);
  });

  it('counts as lost who has neither a mail nor a state that says why', () => {
    const three = ['a', 'b', 'c'].map((applyId) => ({ applyId, email: `${applyId}@example.com` }));
    const failed = aRow({ sk: 'RECIPIENT#b', email: 'b@example.com', status: 'FAILED', lastErrorCode: 'MESSAGE_REJECTED' });

    expect(examine({ requested: three, rows: [aRow({ status: 'PENDING' }), failed], mails: [] }, ALLOWED).tally.lost).toBe(2);
  });

  it('allows a mail behind an unclear attempt only while no event can tell', () => {
    const row = aRow({ attempts: [attempt('x', { outcome: 'unclear' }), sentBy('m-1')], attemptCount: 2 });
    const recorded = { requested, rows: [row], mails: [aMail(), aMail('m-2')] };

    expect(examine(recorded, { ...ALLOWED, duplicates: 1, events: false }).faults).toEqual([]);
    expect(examine(recorded, { ...ALLOWED, duplicates: 1 }).faults).toHaveLength(1);
  });
});
