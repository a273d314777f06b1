import { setTimeout as sleep } from 'node:timers/promises';

import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { controlKey, dispatchKey, type ItemKey, recipientKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createFeedbackRepository } from '../../lambda/adapters/dynamo/control/feedback-repository.ts';
import { parseRecipientItem, stateAttributes, toStoredAttempt } from '../../lambda/adapters/dynamo/recipient/items.ts';
import { createRecipientRepository } from '../../lambda/adapters/dynamo/recipient/recipient-repository.ts';
import type { FeedbackSignal } from '../../lambda/application/feedback/apply-event.ts';
import { createApplyFeedback } from '../../lambda/application/feedback/apply-feedback.ts';
import { parseMailEvent } from '../../lambda/contracts/ses/mail-event.ts';
import type { Recipient, RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import { anAttempt, processing, unknown } from '../support/builders.ts';
import { T0 } from '../support/clock.ts';
import { anEvent, canaryBody, mailEventBody } from '../support/feedback-builders.ts';
import { startTable, type TestTable } from '../support/table.ts';

let table: TestTable;
let count = 0;

beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

const stored = async (recipient: Recipient): Promise<RecipientKey> => {
  count += 1;
  const key = { dispatchId: `feedback${count}`, shard: 0, applyId: '지원-1' };
  const put = (Item: Record<string, unknown>) => table.client.send(new PutCommand({ TableName: table.tableName, Item }));
  await put({
    ...recipientKey(key),
    email: 'kim@example.com',
    variables: '{}',
    attempts: [toStoredAttempt(anAttempt())],
    ...stateAttributes(recipient),
  });
  await put({ ...dispatchKey(key.dispatchId), status: 'COMPLETED', generation: 4 });
  return key;
};

const get = async (key: ItemKey) =>
  (await table.client.send(new GetCommand({ TableName: table.tableName, Key: { ...key }, ConsistentRead: true }))).Item;

/** Handed out before, so that the age of the mail says nothing. */
const ARRIVAL = { queuedAt: Date.now(), firstReceivedAt: Date.now(), receiveCount: 2 };

/** One worker, as it is wired, from the body of a message to the table. */
const worker = () => {
  const signals: FeedbackSignal['type'][] = [];
  const apply = createApplyFeedback({
    recipients: createRecipientRepository({
      client: table.client,
      tableName: table.tableName,
      retentionDays: 30,
      clock: () => T0,
      random: Math.random,
      sleep,
    }),
    feedback: createFeedbackRepository(table.client, table.tableName),
    behind: { behindAfterSeconds: 45, redeliverySeconds: 70 },
    clock: Date.now,
    sleep: (ms) => sleep(ms, undefined, { ref: false }),
    observe: ({ type }) => signals.push(type),
  });
  return {
    signals,
    handle: (...bodies: string[]) =>
      apply(
        bodies.map((body) => ({ ...parseMailEvent(body), arrival: ARRIVAL })),
        () => 20_000,
      ),
  };
};

describe('events of SES in the table', () => {
  it('settle a mail whose answer was lost, several at once and each once (S1, E2)', async () => {
    const key = await stored(processing());
    const { signals, handle } = worker();
    const send = mailEventBody(anEvent({}, { key }));
    const bounce = mailEventBody(anEvent({ kind: 'bounce', at: T0 + 900, detail: 'Permanent/General' }, { key }));

    expect(await handle(send, bounce, send)).toEqual([false, false, false]);

    expect(parseRecipientItem(await get(recipientKey(key)))).toMatchObject({
      recipient: { status: 'SENT', messageId: 'ses-1', sentAt: T0 },
      attempts: [{ outcome: 'sent', messageId: 'ses-1' }],
      delivery: 'bounced',
      events: [
        { kind: 'send', at: T0 },
        { kind: 'bounce', at: T0 + 900, detail: 'Permanent/General' },
      ],
    });
    expect(signals).toEqual(['send', 'confirmed', 'bounce', 'send']);
  });

  it('have a dispatch looked over again when they change a recipient that was given up', async () => {
    const key = await stored(unknown());
    const { signals, handle } = worker();

    await handle(mailEventBody(anEvent({ kind: 'delivery' }, { key })));

    expect(parseRecipientItem(await get(recipientKey(key)))).toMatchObject({
      recipient: { status: 'SENT' },
      delivery: 'delivered',
    });
    expect(await get(dispatchKey(key.dispatchId))).toMatchObject({ openKey: 'OPEN', generation: 5 });
    expect(signals).toEqual(['delivery', 'late']);
  });

  it('are all kept when ten workers have one each for the same recipient', async () => {
    const key = await stored(processing());
    const events = Array.from({ length: 10 }, (_, i) => anEvent({ kind: 'delivery-delay', at: T0 + i }, { key }));

    const kept = async (left: string[]): Promise<void> => {
      const stay = await Promise.all(left.map((body) => worker().handle(body)));
      const again = left.filter((_, i) => stay[i]?.[0] === true);
      // What lost the race too often comes again, as SQS would bring it.
      if (again.length > 0) await kept(again);
    };
    await kept(events.map((event) => mailEventBody(event)));

    const row = parseRecipientItem(await get(recipientKey(key)));
    expect(row.events.map(({ at }) => at - T0)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await createFeedbackRepository(table.client, table.tableName).read()).toMatchObject({ unapplied: [] });
  });

  it('move the watermark that a canary is sent for (L4)', async () => {
    const sentAt = Date.now();

    await worker().handle(canaryBody(sentAt));

    expect(await get(controlKey('FEEDBACK'))).toMatchObject({ watermark: new Date(sentAt).toISOString() });
  });
});
