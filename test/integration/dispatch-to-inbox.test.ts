import { describe, expect, it } from 'vitest';
import * as z from 'zod';

import { poll } from '../support/stack.ts';
import { PATIENT_TIMES } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack('dispatch-to-inbox', PATIENT_TIMES);

const Inbox = z.object({
  emails: z.array(
    z.object({
      subject: z.string(),
      destination: z.object({ to: z.array(z.string()), cc: z.array(z.string()), bcc: z.array(z.string()) }),
      // Other tests' mails have no HTML.
      body: z.object({ html: z.string().optional(), text: z.string().optional() }),
    }),
  ),
});

const mailsInInbox = async () => {
  const response = await fetch(`${stack.description.inbox}/store`);
  return Inbox.parse(await response.json()).emails;
};

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

    await stack.finished(id);

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
        attempts: expect.arrayContaining([expect.objectContaining({ round: 1, n: 1, outcome: 'sent' })]) as unknown,
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

  it('is shown in the inbox as it was meant: escaped in HTML, literal elsewhere, each character whole (S12, S13, U14)', async () => {
    const name = '<img src=x onerror=alert(1)> Kim & Lee';
    const subject = `For {{who}} ${'🙂 지원자 '.repeat(20)}end`;
    const body = stack.bodyOf(1);
    const id = await stack.accepted('escaping', {
      ...body,
      subject,
      variables: { ...body.variables, who: `${name}\r\nBcc: x@example.com` },
      recipients: body.recipients.map((each) => ({ ...each, variables: { ...each.variables, applicantName: name } })),
    });
    await stack.finished(id);

    const find = async () => (await mailsInInbox()).find((mail) => mail.subject.endsWith('end'));
    const shown = await poll(find, (mail) => mail !== undefined);

    expect(shown?.subject).toBe(subject.replace('{{who}}', `${name} Bcc: x@example.com`));
    expect(shown?.body.html).toContain('Dear &lt;img src&#x3D;x onerror&#x3D;alert(1)&gt; Kim &amp; Lee,');
    expect(shown?.body.html).not.toContain('<img');
    expect(shown?.body.text).toContain(name);
    expect(shown?.destination).toEqual({ to: ['person-0@example.com'], cc: [], bcc: [] });
  });

  it('goes to an international domain in the form that mail carries (U12)', async () => {
    const body = stack.bodyOf(1);
    const recipients = body.recipients.map((each) => ({ ...each, email: 'kim@도메인.한국' }));

    const id = await stack.accepted('international', { ...body, recipients });
    await stack.finished(id);

    expect(stack.journal(id).map(({ to }) => to)).toEqual([['kim@xn--hq1bm8jm9l.xn--3e0b707e']]);
  });
});
