import { describe, expect, it } from 'vitest';
import * as z from 'zod';

import type { RawRow } from '../../local/table-rows.ts';
import { postJson } from '../chaos/post-json.ts';
import { madeOf, outcomesOf } from '../support/attempts.ts';
import { anEvent, mailEventBody } from '../support/feedback-builders.ts';
import { checkFromOutside } from '../support/invariants.ts';
import { poll } from '../support/stack.ts';
import { CRASH_HOOKS } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const ATTEMPTS = 2;
const stack = useStack('trouble-with-ses', {
  LOCAL_HOOKS: CRASH_HOOKS,
  ATTEMPTS_PER_ROUND: String(ATTEMPTS),
  BACKOFF_CAP_SECONDS: '1',
});

/** A body of one recipient for each address. */
const bodyTo = (...emails: readonly string[]) => {
  const body = stack.bodyOf(emails.length);
  return { ...body, recipients: body.recipients.map((recipient, i) => ({ ...recipient, email: emails[i] ?? '' })) };
};

/** Sends to one address and waits for the end of it. */
const sendTo = async (key: string, email: string): Promise<{ readonly row: RawRow | undefined; readonly mails: number }> => {
  const body = bodyTo(email);
  const id = await stack.accepted(key, body);
  await stack.finished(id);
  await checkFromOutside(stack, id, body, { attemptsPerRound: ATTEMPTS });
  const [row] = await stack.table.rows(id);
  return { row, mails: stack.journal(id).length };
};

const hasEvent = ({ events }: RawRow, messageId: string): boolean => events.some((event) => event.messageId === messageId);

describe.concurrent('an attempt whose outcome nobody knows', () => {
  // The longest first: only so many run side by side.
  it('costs one mail too many at most when its event is late and others’ are not, and that one is counted (L4b)', async () => {
    await stack.fault({ fault: 'reset-after-accept', recipient: 'late@', times: 1 });
    await stack.events({ recipient: 'late@', delaySeconds: 18 });
    const body = bodyTo('late@example.com');
    const id = await stack.accepted('late', body);
    const start = Date.now();
    await poll(
      () => Promise.resolve(stack.journal(id)),
      (mails) => mails.length === 1,
    );
    await stack.events({ recipient: 'late@' });
    // Events of mails sent well after it are what its own silence is judged by.
    await poll(
      () => Promise.resolve(Date.now()),
      (now) => now > start + 7_000,
    );
    await stack.finished(await stack.accepted('traffic', stack.bodyOf(5)));
    await stack.finished(id);
    await poll(
      () => stack.table.rows(id),
      ([row]) => row !== undefined && stack.journal(id).every(({ messageId }) => hasEvent(row, messageId)),
    );

    expect((await checkFromOutside(stack, id, body, { duplicates: 1 })).sent).toBe(1);
    expect(stack.journal(id).length).toBeLessThanOrEqual(2);
    const isDuplicate = stack.journal(id).length === 2;
    const counted = () => Promise.resolve(stack.log('apply-feedback').includes(`"signal":"duplicate","dispatchId":"${id}"`));
    expect(await poll(counted, (is) => is || !isDuplicate)).toBe(isDuplicate);
  });

  it.each(['reset-after-accept', 'half-answer', 'silent-after-accept'])(
    'is settled by SES’s own event, with one mail (S1, S3, U4): %s',
    async (fault) => {
      const { row, mails } = await sendTo(fault, `${fault}@simulator.localhost`);

      expect(row?.status).toBe('SENT');
      // A busy machine may need more attempts to reach SES at all; of one that did there is no second.
      expect(row?.attempts.filter(({ outcome }) => outcome === 'sent')).toHaveLength(1);
      expect(mails).toBe(1);
    },
  );

  it('is followed by another only once SES’s silence proves that it has no mail (S4)', async () => {
    await stack.fault({ fault: 'html-503', times: 1, recipient: 'once@' });

    const { row, mails } = await sendTo('once', 'once@example.com');

    expect(row).toMatchObject({ status: 'SENT', attemptCount: 2 });
    expect(outcomesOf(row ?? { attempts: [] })).toEqual(['unsent', 'sent']);
    expect(mails).toBe(1);
  });

  it('does not hold up the other mails of its batch when SES answers after a minute (S2)', async () => {
    const addresses = Array.from({ length: 4 }, (_, i) => `swift-${i}@example.com`);
    const body = bodyTo('slow+60@simulator.localhost', ...addresses);
    const id = await stack.accepted('slow', body);
    await stack.finished(id);

    expect(await checkFromOutside(stack, id, body)).toMatchObject({ sent: 5, duplicates: 0 });
    expect(stack.log('send-recipients')).not.toContain('Task timed out');
  });
});

describe.concurrent('a recipient', () => {
  it('whom SES throttles loses no attempt by it (S7)', async () => {
    await stack.fault({ fault: 'throttle', times: 2, recipient: 'throttled@' });

    const { row } = await sendTo('throttled', 'throttled@example.com');

    expect(row).toMatchObject({ status: 'SENT', attemptCount: 1 });
  });

  it('whom SES refuses by name fails at once, and alone (S8)', async () => {
    const { row, mails } = await sendTo('rejected', 'rejected@simulator.localhost');

    expect(row).toMatchObject({ status: 'FAILED', lastErrorCode: 'RECIPIENT_NOT_VERIFIED', attemptCount: 1 });
    expect(mails).toBe(0);
  });

  it('on the suppression list is SENT, and its bounce is none of ours (S15)', async () => {
    const id = await stack.accepted('suppressed', bodyTo('suppressed@simulator.localhost'));
    const [row] = await poll(
      () => stack.table.rows(id),
      ([each]) => each?.delivery !== undefined && each.delivery !== 'none',
    );

    expect(row).toMatchObject({ status: 'SENT', delivery: 'suppressed' });
  });
});

describe.concurrent('events of SES', () => {
  it('that arrive three times are kept once (E2)', async () => {
    await stack.events({ recipient: 'thrice-', copies: 3 });
    const id = await stack.accepted(
      'thrice',
      stack.bodyOf(3, (i) => `thrice-${i}`),
    );
    await poll(
      () => stack.table.rows(id),
      (rows) => rows.length === 3 && rows.every(({ delivery }) => delivery === 'delivered'),
    );
    await poll(
      () => stack.queues.feedback(),
      ({ visible, inFlight }) => visible + inFlight === 0,
    );

    const rows = await stack.table.rows(id);
    expect(rows.map(({ events }) => events.filter(({ kind }) => kind === 'delivery').length)).toEqual([1, 1, 1]);
  });

  it('about nobody we know, without our tags, or of another form are dropped, and block nothing (E3)', async () => {
    const key = { dispatchId: 'nowhere', shard: 0, applyId: 'nobody' };
    await stack.queues.putFeedback(mailEventBody(anEvent({}, { key })));
    await stack.queues.putFeedback({
      eventType: 'Send',
      mail: { messageId: 'm', timestamp: new Date().toISOString() },
      send: {},
    });
    await stack.queues.putFeedback('not JSON');

    const { row } = await sendTo('after-strangers', 'success@simulator.amazonses.com');

    expect(row?.status).toBe('SENT');
    await poll(
      () => stack.queues.feedback(),
      ({ visible, inFlight }) => visible + inFlight === 0,
    );
    expect(await stack.queues.deadFeedback()).toBe(0);
    for (const signal of ['foreign', 'malformed']) expect(stack.log('apply-feedback')).toContain(`"signal":"${signal}"`);
  });
});

const Account = z.looseObject({ SendQuota: z.looseObject({ SentLast24Hours: z.number() }) });

describe('while the account may not send', () => {
  /** Posts, sees the pause with nobody failed, puts right what was wrong, and sees all sent, each by a first attempt. */
  const expectPause = async (key: string, recipients: number, code: string, putRight: () => Promise<void>) => {
    const body = stack.bodyOf(recipients, (i) => `${key}-${i}`);
    const id = await stack.accepted(key, body);
    await poll(
      () => stack.sending(),
      (sending) => sending.paused && sending.code === code,
    );
    const waiting = await stack.table.rows(id);
    expect(waiting.filter(({ status }) => status === 'FAILED' || status === 'UNKNOWN')).toEqual([]);
    await putRight();

    await stack.finished(id);
    expect(await checkFromOutside(stack, id, body)).toMatchObject({ sent: recipients, duplicates: 0 });
    // A busy machine may need more attempts to reach SES at all; what pauses sending takes none.
    const used = (await stack.table.rows(id)).flatMap(({ attempts }) => madeOf(attempts));
    expect(used.filter((attempt) => attempt['code'] === code)).toEqual([]);
    await poll(
      () => stack.sending(),
      ({ paused }) => !paused,
    );
    expect(await stack.queues.deadLetters()).toBe(0);
    return waiting;
  };

  it('since it has used up its quota, the rest stays PENDING and goes out by itself later (S6)', async () => {
    const { SendQuota } = Account.parse(await postJson(`${stack.description.ses}/v2/email/account`, 'GET'));
    await stack.account({ perDay: SendQuota.SentLast24Hours + 10 });

    const waiting = await expectPause('quota', 20, 'ACCOUNT_DAILY_QUOTA_EXCEEDED', () => stack.account({ perDay: 1_000_000 }));

    expect(waiting.length).toBe(20);
  });

  it.each(['ThrottlingException', 'TooManyRequestsException'])(
    'the text decides, under whatever name SES says it (S6): %s',
    async (name) => {
      await stack.fault({ fault: `quota:${name}`, recipient: `${name}-` });

      await expectPause(name, 5, 'ACCOUNT_DAILY_QUOTA_EXCEEDED', () => stack.clearFaults());
    },
  );

  it('since AWS has paused it, nobody fails (S9)', async () => {
    await stack.finished(await stack.accepted('before', stack.bodyOf(10)));
    await stack.account({ sendingEnabled: false });

    await expectPause('paused', 100, 'ACCOUNT_SENDING_PAUSED', () => stack.account({ sendingEnabled: true }));
  });

  it('since its own identity is refused, nobody fails (S8)', async () => {
    await stack.fault({ fault: 'rejected-from' });

    await expectPause('from', 100, 'FROM_IDENTITY_NOT_VERIFIED', () => stack.clearFaults());
  });

  it('since an operator has paused it, nothing is in flight, and all go out afterwards (Q7)', async () => {
    await stack.pause('wrong template');
    const body = stack.bodyOf(200, (i) => `held-${i}`);
    const id = await stack.accepted('held', body);
    const depth = await poll(
      () => stack.queues.sends(),
      ({ delayed }) => delayed > 150,
    );
    // Never more than the senders look at in one go.
    expect(depth.inFlight).toBeLessThanOrEqual(50);
    expect(stack.journal(id)).toEqual([]);

    await stack.sending({ paused: false });

    await stack.finished(id);
    expect(await checkFromOutside(stack, id, body)).toMatchObject({ sent: 200, duplicates: 0 });
    expect(await stack.queues.deadLetters()).toBe(0);
  });

  // Last, since the one recipient ends among the dead letters.
  it('for one recipient and one dispatch, the others are sent without a pause, and nobody else fails (V2, V32)', async () => {
    await stack.fault({ fault: 'access-denied', recipient: 'refused-' });
    await stack.fault({ fault: 'access-denied', recipient: 'alone@' });
    // Keeps the dispatch from being complete before it is stopped.
    await stack.fault({ fault: 'throttle', recipient: 'held@' });
    const addresses = Array.from({ length: 60 }, (_, i) => `refused-${i}@example.com`);
    const refused = await stack.accepted('refused', bodyTo(...addresses, 'held@example.com'));
    const body = bodyTo('alone@example.com', ...Array.from({ length: 30 }, (_, i) => `beside-${i}@example.com`));
    const id = await stack.accepted('beside', body);

    await stack.finished(id);
    await poll(
      () => stack.dispatch(refused),
      ({ status }) => status === 'STOPPED',
    );
    await stack.clearFaults();

    const rows = await stack.table.rows(id);
    expect(rows.filter(({ status }) => status === 'SENT')).toHaveLength(30);
    const [alone, ...others] = rows.filter(({ status }) => status === 'FAILED');
    expect(others).toEqual([]);
    expect(alone?.attempts.at(-1)).toMatchObject({ code: 'ACCESS_DENIED' });
    expect(await stack.sending()).toMatchObject({ paused: false });
  });
});
