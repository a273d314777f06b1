import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { PATIENT_TIMES, poll, TestStack } from '../support/stack.ts';

const stack = new TestStack(PATIENT_TIMES);
beforeAll(() => stack.start());
afterAll(() => stack.end());

describe('a dispatch', () => {
  // 97 is the most that fits one transaction as rows of their own; above that, recipients travel in batches.
  it.each([1, 97, 98, 99, 100, 101])('of %i recipients gives each exactly one mail (O6)', async (n) => {
    const id = await stack.accepted(`size-${n}`, stack.bodyOf(n));

    const { status, counts } = await stack.finished(id);

    expect({ status, sent: counts['SENT'] }).toEqual({ status: 'COMPLETED', sent: n });
    const mails = stack.mails(id);
    expect(mails.size).toBe(n);
    expect([...mails].filter(([, count]) => count !== 1)).toEqual([]);
  });

  it('of 1,000 recipients, worked on by several senders at once, sends no mail twice (L1, U7, O6)', async () => {
    const id = await stack.accepted('thousand', stack.bodyOf(1000));
    const senders = await poll(
      () => Promise.resolve(stack.launched.processes().filter((each) => each.function.startsWith('send-recipients')).length),
      (running) => running >= 2,
    );

    await stack.finished(id, 80_000);

    expect(senders).toBeGreaterThanOrEqual(2);
    const mails = stack.mails(id);
    expect(mails.size).toBe(1000);
    expect([...mails.values()].filter((count) => count !== 1)).toEqual([]);
  });

  it('shows of each recipient the message id, the attempt and the times', async () => {
    const id = await stack.accepted('details', stack.bodyOf(3));
    await stack.finished(id);

    const recipients = await stack.recipients(id);

    expect(recipients.map(({ applyId }) => applyId).sort()).toEqual(['apply-0', 'apply-1', 'apply-2']);
    for (const recipient of recipients) {
      expect(recipient).toMatchObject({
        status: 'SENT',
        attemptCount: 1,
        messageId: expect.stringMatching(/.{20,}/) as string,
        sentAt: expect.stringMatching(/Z$/) as string,
        attempts: [{ round: 1, n: 1, outcome: 'sent' }],
      });
    }
  });

  it('shows its recipients page by page, each once, over several shards', async () => {
    const id = await stack.accepted('pages', stack.bodyOf(250));
    await stack.finished(id);

    const recipients = await stack.recipients(id, 'status=SENT&limit=40');

    expect(new Set(recipients.map(({ applyId }) => applyId)).size).toBe(250);
    expect(recipients).toHaveLength(250);
  });

  it('is not held up by a recipient that SES refuses', async () => {
    const body = stack.bodyOf(3);
    const [first, ...rest] = body.recipients;
    const id = await stack.accepted('one-bad', {
      ...body,
      recipients: [{ ...first, email: 'bad-request@simulator.localhost' }, ...rest],
    });

    const { counts, status } = await stack.finished(id);

    expect({ status, sent: counts['SENT'], failed: counts['FAILED'] }).toEqual({ status: 'COMPLETED', sent: 2, failed: 1 });
    expect(await stack.recipients(id, 'status=FAILED')).toMatchObject([
      { applyId: 'apply-0', lastErrorCode: 'INVALID_PARAMETER' },
    ]);
  });

  it('is shown in the inbox with values escaped in HTML and literal in the subject (S12, S13)', async () => {
    const name = '<img src=x onerror=alert(1)> Kim & Lee';
    const body = stack.bodyOf(1);
    const id = await stack.accepted('escaping', {
      ...body,
      subject: 'For {{who}} 🙂 지원자',
      variables: { ...body.variables, who: `${name}\r\nBcc: x@example.com` },
    });
    await stack.finished(id);

    const [mail] = stack.journal(id);

    expect(mail?.subject).toBe(`For ${name} Bcc: x@example.com 🙂 지원자`);
    expect(mail?.to).toEqual(['person-0@example.com']);
  });
});
