import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { FeedbackSignal } from '../../../../lambda/application/feedback/apply-event.ts';
import { createApplyFeedback } from '../../../../lambda/application/feedback/apply-feedback.ts';
import type { Feedback } from '../../../../lambda/domain/recipient/feedback.ts';
import { createHandler } from '../../../../lambda/handlers/apply-feedback/handler.ts';
import { createFeedbackObserver } from '../../../../lambda/handlers/apply-feedback/signals.ts';
import { aKey, aRecipient, sent } from '../../../support/builders.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { T0 } from '../../../support/clock.ts';
import { createFakeFeedback } from '../../../support/fake-feedback.ts';
import { createFakeRecipients } from '../../../support/fakes.ts';
import { anEvent, canaryBody, mailEventBody } from '../../../support/feedback-builders.ts';
import { aContext, anSqsEvent } from '../../../support/lambda-events.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const handlerThat = (comesAgain: (feedback: Feedback) => boolean = () => false) => {
  const seen: Feedback[] = [];
  const times: number[] = [];
  const handler = createHandler({
    applyFeedback: (batch, remainingMs) => {
      seen.push(...batch);
      times.push(remainingMs());
      return Promise.resolve(batch.map(comesAgain));
    },
    telemetry: output.telemetry,
  });
  return { handler, seen, times };
};

describe('the handler of SES’s events', () => {
  it('reads each event, in order, with the time that is left', async () => {
    const { handler, seen, times } = handlerThat();
    const event = anEvent({ kind: 'bounce', detail: 'Permanent/General', at: T0 + 5 }, { key: aKey('지원자') });

    expect(await handler(anSqsEvent(mailEventBody(event), canaryBody(), '{'), aContext(8_000))).toEqual({
      batchItemFailures: [],
    });

    expect(seen).toMatchObject([event, { kind: 'canary', sentAt: T0, isSend: true }, { kind: 'malformed' }]);
    expect(times).toEqual([8_000]);
    // The times that SQS gives with each message.
    expect(seen[0]).toHaveProperty('arrival', { queuedAt: T0, firstReceivedAt: expect.any(Number) as number, receiveCount: 1 });
  });

  const envelopeOf = (message: string, publishedAt = T0): string =>
    JSON.stringify({
      Type: 'Notification',
      MessageId: '0f6c1f52-9c3f-4c1e-8d0f-2f3f3a1f0b11',
      TopicArn: 'arn:aws:sns:eu-west-1:123456789012:events',
      Message: message,
      Timestamp: new Date(publishedAt).toISOString(),
      SignatureVersion: '1',
      Signature: 'c2lnbmF0dXJl',
    });

  it('applies an event in an envelope of SNS, and counts that raw delivery is off', async () => {
    const { handler, seen } = handlerThat();
    const event = anEvent({ kind: 'delivery' });

    await handler(anSqsEvent(envelopeOf(mailEventBody(event)), mailEventBody(event)), aContext());

    expect(seen).toMatchObject([event, event]);
    expect(output.metrics()).toEqual([expect.objectContaining({ name: 'FeedbackEnveloped', value: 1 })]);
    expect(output.text()).toContain('sqs-0');
    expect(output.text()).not.toContain('kim@example.com');
  });

  it.each([
    ['raw', (body: string) => body],
    ['in the envelope', (body: string) => envelopeOf(body, T0 - 3_600_000)],
  ])('applies a dead letter of SNS that was redriven an hour later: %s (E5)', async (_name, write) => {
    const { handler, seen } = handlerThat();
    const event = anEvent({ kind: 'bounce', detail: 'Permanent/General' });

    await handler(anSqsEvent(write(mailEventBody(event))), aContext());

    expect(seen).toMatchObject([event]);
    expect(output.metrics()).toEqual([]);
  });

  it('takes no other JSON for an envelope', async () => {
    const { handler, seen } = handlerThat();

    await handler(anSqsEvent(envelopeOf('{"Type":"Notification"}'), '{"Type":"Notification"}', envelopeOf('text')), aContext());

    expect(seen).toMatchObject([{ kind: 'malformed' }, { kind: 'malformed' }, { kind: 'malformed' }]);
  });

  it('reports only those that must come again', async () => {
    const { handler } = handlerThat((feedback) => feedback.kind === 'canary');

    expect(await handler(anSqsEvent(mailEventBody(anEvent()), canaryBody(), 'text'), aContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: 'sqs-1' }],
    });
  });

  it('reports one of which nothing was said', async () => {
    const handler = createHandler({ applyFeedback: () => Promise.resolve([]), telemetry: output.telemetry });

    expect(await handler(anSqsEvent(canaryBody()), aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-0' }] });
  });

  it('fails without a word of what failed', async () => {
    const handler = createHandler({
      applyFeedback: () => Promise.reject(new Error('about kim@example.com')),
      telemetry: output.telemetry,
    });

    await expect(handler(anSqsEvent(canaryBody()), aContext())).rejects.toThrow('see the log line before this one');
    expect(output.text()).not.toContain('kim@example.com');
  });
});

const METRICS = {
  send: 'MailTaken',
  delivery: 'MailDelivered',
  'delivery-delay': 'MailDelayed',
  bounce: 'MailBounced',
  'soft-bounce': 'MailSoftBounced',
  complaint: 'MailComplained',
  reject: 'MailRejected',
  'rendering-failure': 'MailNotRendered',
  suppressed: 'MailSuppressed',
  confirmed: 'OutcomeConfirmed',
  late: 'OutcomeConfirmedLate',
  duplicate: 'DuplicateSent',
  gone: 'FeedbackRecipientGone',
  failed: 'FeedbackNotApplied',
  canary: 'CanaryHeard',
  ignored: 'FeedbackIgnored',
  foreign: 'FeedbackForeign',
  malformed: 'FeedbackMalformed',
  'unapplied-not-kept': 'UnappliedEventsNotKept',
  behind: 'FeedbackBehind',
  'watermark-failed': 'WatermarkNotMoved',
} as const satisfies Record<FeedbackSignal['type'], string>;

describe('what feedback tells', () => {
  it.each(Object.keys(METRICS) as FeedbackSignal['type'][])(
    'of %s is a metric of the fixed list, without an id in a dimension (B2)',
    (type) => {
      createFeedbackObserver(output.telemetry)({ type, key: aKey('kim@example.com'), round: 1, attempt: 2, detail: 'abuse' });
      output.telemetry.metrics.publishStoredMetrics();

      expect(output.metrics()).toEqual([{ name: METRICS[type], value: 1, dimensions: ['service', 'Stage'] }]);
    },
  );

  it('names a recipient by a hash in logs, since an id may be an address (S14)', () => {
    const signal = { type: 'late', key: aKey('kim@example.com'), round: 1, attempt: 2, from: 'UNKNOWN' } as const;
    createFeedbackObserver(output.telemetry)(signal);

    // The first 16 digits of SHA-256 of the id.
    expect(JSON.parse(output.text())).toMatchObject({
      level: 'WARN',
      signal: 'late',
      dispatchId: 'd1spatch',
      recipient: '5d9a0087d4ccdb9b',
      round: 1,
      attempt: 2,
      from: 'UNKNOWN',
    });
    expect(output.text()).not.toContain('kim@example.com');
  });

  it.each([
    ['send', 'INFO'],
    ['delivery', 'INFO'],
    ['bounce', 'INFO'],
    ['confirmed', 'INFO'],
    ['canary', 'INFO'],
    ['complaint', 'WARN'],
    ['reject', 'WARN'],
    ['duplicate', 'WARN'],
    ['failed', 'WARN'],
    ['gone', 'WARN'],
    ['unapplied-not-kept', 'WARN'],
    ['behind', 'WARN'],
  ] as const)('of %s is %s', (type, level) => {
    createFeedbackObserver(output.telemetry)({ type });

    expect(JSON.parse(output.text())).toMatchObject({ level });
  });
});

describe('nothing personal of an event is logged or counted (S14)', () => {
  const ADDRESS = 'secret.kim@private.example.com';
  const ANY_SECRET = /secret|private\.example/i;
  const key = aKey(ADDRESS);
  const KINDS = ['send', 'delivery', 'delivery-delay', 'bounce', 'complaint', 'reject', 'rendering-failure'] as const;

  /** The handler as it is wired, but for the table. */
  const run = async (body: string, recipients = createFakeRecipients([[key, aRecipient(sent({ messageId: 'other' }))]])) => {
    const handler = createHandler({
      applyFeedback: createApplyFeedback({
        recipients,
        feedback: createFakeFeedback(),
        behind: { behindAfterSeconds: 45, redeliverySeconds: 70 },
        clock: () => T0,
        sleep: () => new Promise(() => undefined),
        observe: createFeedbackObserver(output.telemetry),
      }),
      telemetry: output.telemetry,
    });
    const answer = await handler(anSqsEvent(body), aContext());
    return { answer, recipients };
  };
  const bodyOf = (kind: (typeof KINDS)[number]) =>
    mailEventBody(anEvent({ kind, detail: `Permanent/${ADDRESS}` }, { key }), ADDRESS);

  const expectSilence = (): void => {
    expect(output.text()).not.toBe('');
    expect(output.text()).not.toMatch(ANY_SECRET);
  };

  it.each(KINDS)('when a %s is applied, and the row keeps nothing of it either', async (kind) => {
    const { answer, recipients } = await run(bodyOf(kind));

    expect(answer).toEqual({ batchItemFailures: [] });
    const [row] = recipients.all();
    expect(row?.events).toMatchObject([{ kind, messageId: 'ses-1' }]);
    expect(JSON.stringify({ ...row, email: '' })).not.toMatch(ANY_SECRET);
    expectSilence();
  });

  it('when the recipient is gone', async () => {
    await run(bodyOf('bounce'), createFakeRecipients());

    expectSilence();
  });

  it('when the table fails with a text that names everybody', async () => {
    const recipients = createFakeRecipients();
    recipients.applyPatch = () => Promise.reject(new Error(`about ${ADDRESS}`));

    const { answer } = await run(bodyOf('bounce'), recipients);

    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-0' }] });
    expectSilence();
  });

  it.each([
    ['is no JSON', `about ${ADDRESS}`],
    ['has no mail', JSON.stringify({ eventType: 'Bounce', bounce: { bouncedRecipients: [{ emailAddress: ADDRESS }] } })],
    ['is of a kind that is an address', bodyOf('send').replace('"Send"', `"${ADDRESS}"`)],
    ['has tags of another service', bodyOf('send').replace(/"(dispatchId|recipient|lease)"/g, '"other"')],
  ])('when an event %s', async (_name, body) => {
    const { answer } = await run(body);

    expect(answer).toEqual({ batchItemFailures: [] });
    expectSilence();
  });
});
