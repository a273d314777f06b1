import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { poll, TestStack } from '../support/stack.ts';

const stack = new TestStack({ ATTEMPTS_PER_ROUND: '2', BACKOFF_CAP_SECONDS: '1' });
beforeAll(() => stack.start());
afterAll(() => stack.end());

const sendTo = async (key: string, email: string) => {
  const body = stack.bodyOf(1);
  const id = await stack.accepted(key, { ...body, recipients: body.recipients.map((recipient) => ({ ...recipient, email })) });
  await stack.finished(id);
  const [recipient] = await stack.recipients(id);
  return { recipient, mails: [...stack.mails(id).values()].reduce((sum, count) => sum + count, 0) };
};

describe.concurrent('an attempt whose outcome nobody knows', () => {
  it.each(['half-answer', 'reset-after-accept'])(
    'is followed by one more at most, then left UNKNOWN (S1, S3): %s',
    async (fault) => {
      const { recipient, mails } = await sendTo(fault, `${fault}@simulator.localhost`);

      expect(recipient).toMatchObject({ status: 'UNKNOWN', attemptCount: 2, lastErrorCode: 'OUTCOME_UNCLEAR' });
      expect(mails).toBe(2);
    },
  );

  it('is followed by a second that settles it', async () => {
    await stack.fault({ fault: 'html-503', times: 1, recipient: 'once@' });

    const { recipient, mails } = await sendTo('once', 'once@example.com');

    expect(recipient).toMatchObject({ status: 'SENT', attemptCount: 2, attempts: [{ outcome: 'unclear' }, { outcome: 'sent' }] });
    expect(mails).toBe(1);
  });

  it('does not hold up the other mails of its batch (S2)', async () => {
    const body = stack.bodyOf(5);
    const id = await stack.accepted('slow', {
      ...body,
      recipients: body.recipients.map((recipient, i) =>
        i === 0 ? { ...recipient, email: 'silent@simulator.localhost' } : recipient,
      ),
    });

    const { counts } = await poll(
      () => stack.dispatch(id),
      (dispatch) => dispatch.counts['SENT'] === 4,
    );

    expect(counts['PROCESSING']).toBe(1);
  });
});

describe.concurrent('a recipient whom SES throttles', () => {
  it('loses no attempt by it (S7)', async () => {
    await stack.fault({ fault: 'throttle', times: 2, recipient: 'throttled@' });

    const { recipient } = await sendTo('throttled', 'throttled@example.com');

    expect(recipient).toMatchObject({ status: 'SENT', attemptCount: 1 });
  });
});

describe.concurrent('a message that cannot be handled (Q2)', () => {
  it('ends in the dead-letter queue', async () => {
    const { sqs, queueUrl, deadLetterQueueUrl } = stack.description;
    const client = new SQSClient({
      endpoint: sqs,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    const unknown = { v: 1, id: 'x', dispatchId: 'nowhere', shard: 0, applyId: 'a', enqueuedAt: new Date().toISOString() };
    const bodies = ['not JSON', JSON.stringify({ ...unknown, v: 99 }), JSON.stringify(unknown)];
    for (const MessageBody of bodies) await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));

    const dead = await poll(
      async () => {
        const { Attributes } = await client.send(
          new GetQueueAttributesCommand({ QueueUrl: deadLetterQueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
        );
        return Number(Attributes?.['ApproximateNumberOfMessages']);
      },
      (count) => count >= 3,
    );

    expect(dead).toBe(3);
    client.destroy();
  });
});
