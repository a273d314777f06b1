import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { PublishBatchCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { openEventLedger } from '../../../../../local/fake-ses/events/ledger.ts';
import { createEventPublisher, type EventPublisher } from '../../../../../local/fake-ses/events/publisher.ts';
import { EventRule } from '../../../../../local/fake-ses/events/rules.ts';
import { anEventMail } from './support.ts';

const sns = mockClient(SNSClient);
const client = new SNSClient({ region: 'us-east-1' });
const MAILS = { configurationSet: 'mails', topicArn: 'arn:events', types: ['send', 'delivery', 'renderingFailure'] };

let file: string;
let publishers: EventPublisher[] = [];
beforeEach(() => {
  sns.reset();
  sns.on(PublishBatchCommand).resolves({});
  file = join(mkdtempSync(join(tmpdir(), 'events-')), 'events.jsonl');
});
afterEach(() => {
  for (const publisher of publishers) publisher.stop();
  publishers = [];
});

const start = (...rules: object[]): EventPublisher => {
  const publisher = createEventPublisher(openEventLedger(file), () => undefined);
  publishers.push(publisher);
  for (const rule of rules) publisher.rules.add(EventRule.parse(rule));
  publisher.connect(client, [MAILS]);
  return publisher;
};

/** `kind of message id`, in the order of publishing. */
const published = (): string[] =>
  sns
    .commandCalls(PublishBatchCommand)
    .flatMap(({ args: [{ input }] }) => input.PublishBatchRequestEntries ?? [])
    .map(({ Message = '' }) => {
      const event = JSON.parse(Message) as { eventType: string; mail: { messageId: string } };
      return `${event.eventType} of ${event.mail.messageId}`;
    });

const allPublished = (publisher: EventPublisher) =>
  vi.waitFor(() => {
    expect(publisher.counts().waiting).toBe(0);
  });

describe('the publisher of events', () => {
  it('publishes the events of a mail in order, ten a call', async () => {
    const publisher = start();
    for (let i = 0; i < 8; i += 1) publisher.prepare(anEventMail(`m-${i}`))();
    await allPublished(publisher);

    expect(published().slice(0, 4)).toEqual(['Send of m-0', 'Delivery of m-0', 'Send of m-1', 'Delivery of m-1']);
    expect(publisher.counts()).toEqual({ published: 16, waiting: 0, lost: 0 });
    expect(sns.commandCalls(PublishBatchCommand)).toHaveLength(2);
  });

  it('publishes only the types that the event destination names, under any spelling', async () => {
    const publisher = start();
    publisher.prepare(anEventMail('m-1', 'bounce@simulator.amazonses.com'))();
    publisher.prepare(anEventMail('m-2', 'rendering-failure@simulator.localhost'))();
    await allPublished(publisher);

    expect(published()).toEqual(['Send of m-1', 'Rendering Failure of m-2']);
  });

  it('publishes nothing about mails of another configuration set', () => {
    const publisher = start();
    publisher.prepare({ ...anEventMail('m-1'), configurationSetName: 'others' })();

    expect(publisher.counts()).toEqual({ published: 0, waiting: 0, lost: 0 });
  });

  it('publishes copies, and counts what is lost', async () => {
    const publisher = start({ kinds: ['Send'], copies: 2 }, { kinds: ['Delivery'], lost: true });
    publisher.prepare(anEventMail('m-1'))();
    await allPublished(publisher);

    expect(published()).toEqual(['Send of m-1', 'Send of m-1']);
    expect(publisher.counts()).toEqual({ published: 2, waiting: 0, lost: 1 });
  });

  it('tries again when the topic does not answer', async () => {
    sns.on(PublishBatchCommand).rejectsOnce(new Error('not now')).resolves({});
    const publisher = start();
    publisher.prepare(anEventMail('m-1'))();
    await allPublished(publisher);

    expect(publisher.counts().published).toBe(2);
  });
});

describe('after a restart', () => {
  it('events are published again', async () => {
    const publisher = start();
    publisher.repeat(anEventMail('m-1'));
    await allPublished(publisher);

    expect(published()).toEqual(['Send of m-1', 'Delivery of m-1']);
  });

  it('lost ones stay lost, and late ones come when they are due', async () => {
    const before = start({ kinds: ['Send'], lost: true }, { kinds: ['Delivery'], delaySeconds: 0.3 });
    before.prepare(anEventMail('m-1'));
    before.stop();
    publishers = [];
    // What a kill leaves of the line that was being written.
    appendFileSync(file, '{"messageId":"m-2","ki');

    const after = start();
    after.repeat(anEventMail('m-1'));

    expect(after.counts()).toEqual({ published: 0, waiting: 1, lost: 0 });
    await allPublished(after);
    expect(published()).toEqual(['Delivery of m-1']);
  });
});
