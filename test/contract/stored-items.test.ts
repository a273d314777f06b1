import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';

import { decodeBatch, decodeContent, encodeBatch, encodeContent } from '../../lambda/adapters/dynamo/client/codec.ts';
import {
  DispatchItem,
  parseRecipientItem,
  stateAttributes,
  toStoredAttempt,
  toStoredEvent,
} from '../../lambda/adapters/dynamo/recipient/items.ts';
import { MAIL_EVENT_KINDS, type MailEvent } from '../../lambda/domain/recipient/delivery.ts';
import type { Recipient } from '../../lambda/domain/recipient/recipient.ts';
import {
  aContent,
  anAttempt,
  cancelled,
  exhausted,
  failed,
  pending,
  processing,
  rowCounts,
  sent,
  unknown,
} from '../support/builders.ts';
import { json, startSesServer as startServer } from '../support/ses-server.ts';

type Image = Record<string, unknown>;
const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded/stream-records.json'), 'utf8'),
) as readonly DynamoDBRecord[];

/** Reads an image as the client reads it from the table. */
const read = async (index: number): Promise<Image | undefined> => {
  const server = await startServer(json(200, { Item: recorded[index]?.dynamodb?.NewImage ?? {} }));
  const client = new DynamoDBClient({
    endpoint: server.url,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const { Item } = await DynamoDBDocumentClient.from(client).send(
    new GetCommand({ TableName: 'mail', Key: { pk: 'p', sk: 's' } }),
  );
  client.destroy();
  await server.stop();
  return Item;
};

const at = (iso: string): number => Date.parse(`2026-03-02T${iso}Z`);

describe('a recipient that an earlier version stored', () => {
  it.each<[string, number, Recipient]>([
    ['new', 3, pending({ nextAttemptAt: at('09:00:00.000') })],
    ['claimed', 4, processing({ lease: { token: 'l-1', until: at('09:05:00.000') } })],
    ['to be tried again', 5, pending({ attemptCount: 1, nextAttemptAt: at('09:00:30.000'), lastErrorCode: 'NOT_CONNECTED' })],
    [
      'with its attempts used up',
      7,
      exhausted({ attemptCount: 2, failedAt: at('09:00:30.050'), deadMessage: { id: 'm-1', sentAt: at('09:00:00.000') } }),
    ],
    ['reopened', 8, pending({ round: 2, nextAttemptAt: at('09:01:30.000'), lastErrorCode: 'ATTEMPTS_EXHAUSTED' })],
    ['sent', 12, sent({ round: 2, messageId: 'ses-1', sentAt: at('09:01:30.050') })],
  ])('is understood: %s', async (_name, index, expected) => {
    const { applyId, email, variables, recipient } = parseRecipientItem(await read(index));

    expect({ applyId, email, variables }).toEqual({ applyId: 'a-1', email: 'kim@example.com', variables: { name: 'Kim' } });
    expect(recipient).toEqual(expected);
  });

  it('has its attempts, that of a claim numbered by the row', async () => {
    expect(parseRecipientItem(await read(4)).attempts).toEqual([{ round: 1, n: 1, lease: 'l-1', startedAt: at('09:00:00.000') }]);
    expect(parseRecipientItem(await read(12)).attempts).toEqual([
      { round: 1, n: 1, lease: 'l-1', startedAt: at('09:00:00.000'), outcome: 'retry', code: 'NOT_CONNECTED', ms: 50 },
      { round: 1, n: 2, lease: 'l-2', startedAt: at('09:00:30.000'), outcome: 'retry', code: 'NOT_CONNECTED', ms: 50 },
      { round: 2, n: 1, lease: 'l-3', startedAt: at('09:01:30.000'), outcome: 'sent', messageId: 'ses-1', ms: 80 },
    ]);
  });

  it('has no events and no delivery, as it was stored before there were any', async () => {
    expect(parseRecipientItem(await read(12))).toMatchObject({ delivery: 'none', events: [] });
  });

  it('with attributes of a later version is understood all the same', async () => {
    expect(parseRecipientItem({ ...(await read(12)), openedAt: 'later' }).recipient.status).toBe('SENT');
  });

  it.each<[string, Image]>([
    ['without a status', { status: undefined }],
    ['in a state nobody knows', { status: 'BOUNCED' }],
    ['with an instant that is none', { sentAt: 'yesterday' }],
    ['sent without the id of SES', { messageId: undefined }],
    ['with attempts that are no list', { attempts: 'none' }],
    ['with variables that are no JSON', { variables: '{' }],
    ['with a delivery nobody knows', { delivery: 'lost' }],
    ['with an event nobody knows', { events: [{ kind: 'open', messageId: 'ses-1', at: '2026-03-02T09:00:00.000Z' }] }],
    ['cancelled without an instant', { status: 'CANCELLED' }],
  ])('fails %s', async (_name, change) => {
    const item = await read(12);

    expect(() => parseRecipientItem({ ...item, ...change })).toThrow();
  });
});

describe('each state is the same after it was stored and read', () => {
  it.each<[Recipient]>([
    [pending()],
    [pending({ lastErrorCode: 'NOT_CONNECTED', round: 3, attemptCount: 2 })],
    [processing()],
    [sent()],
    [failed()],
    [exhausted()],
    [unknown()],
    [cancelled],
  ])('$status', (recipient) => {
    const item = { sk: 'RECIPIENT#a-1', email: 'kim@example.com', variables: '{}', attempts: [], ...stateAttributes(recipient) };

    expect(parseRecipientItem(item).recipient).toEqual(recipient);
  });
});

describe('what is stored beside the state is the same after it was stored and read', () => {
  const item = { sk: 'RECIPIENT#a-1', email: 'kim@example.com', variables: '{}', ...stateAttributes(sent()) };

  it('attempts', () => {
    const attempts = [
      anAttempt({ outcome: 'unclear', code: 'TIMED_OUT', ms: 10_000 }),
      anAttempt({ n: 2, lease: 'l-2', outcome: 'unsent' }),
      anAttempt({ n: 3, lease: 'l-3', outcome: 'sent', messageId: 'ses-1', ms: 80 }),
    ];

    expect(parseRecipientItem({ ...item, attempts: attempts.map(toStoredAttempt) }).attempts).toEqual(attempts);
  });

  it('events and delivery', () => {
    const events: MailEvent[] = [
      ...MAIL_EVENT_KINDS.map((kind, i) => ({ kind, messageId: 'ses-1', at: at('09:00:00.000') + i })),
      { kind: 'bounce', messageId: 'ses-1', at: at('09:01:00.000'), detail: 'Permanent/Suppressed', suppressed: true },
    ];
    const stored = { ...item, attempts: [], delivery: 'suppressed', events: events.map(toStoredEvent) };

    expect(parseRecipientItem(stored)).toMatchObject({ delivery: 'suppressed', events });
  });
});

describe('a dispatch that an earlier version stored', () => {
  const stored = {
    dispatchId: 'd1',
    adminId: 'admin-1',
    scenarioId: 'interview',
    recruitId: 'r-1',
    total: 3,
    shards: 1,
    isTest: false,
    status: 'ACCEPTED',
    generation: 0,
    createdAt: '2026-03-02T09:00:00.000Z',
  };

  it('is understood, though it has no fingerprint (A8)', () => {
    expect(DispatchItem.parse(stored)).toEqual({ ...stored, createdAt: at('09:00:00.000') });
  });

  it('is understood, though its deliveries were counted before soft bounces were told apart', () => {
    const deliveries = { delayed: 1, delivered: 2, rejected: 0, suppressed: 0, bounced: 3, complained: 0 };

    expect(DispatchItem.parse({ ...stored, deliveries }).deliveries).toEqual({ ...deliveries, 'soft-bounced': 0 });
  });

  it('is understood with all that may become of it, and with what this code does not read', () => {
    const instants = ['lastProgressAt', 'sweptAt', 'completedAt', 'faultSince', 'stoppedAt', 'resumedAt', 'cancelledAt'];
    const iso = '2026-03-02T09:00:00.000Z';
    const became = {
      status: 'STOPPED',
      failureReason: 'permanent-failures',
      faultCode: 'BAD_REQUEST',
      outcome: 'none-sent',
      needsAttention: true,
      counts: { PENDING: 0, PROCESSING: 0, SENT: 0, FAILED: 3, UNKNOWN: 0, CANCELLED: 0 },
      deliveries: { delayed: 0, 'soft-bounced': 0, delivered: 0, rejected: 0, suppressed: 0, bounced: 0, complained: 0 },
    };
    const item = { ...stored, ...became, ...Object.fromEntries(instants.map((name) => [name, iso])), refusedCount: 3, tasks: 1 };

    expect(DispatchItem.parse(item)).toEqual({
      ...stored,
      ...became,
      createdAt: at('09:00:00.000'),
      ...Object.fromEntries(instants.map((name) => [name, at('09:00:00.000')])),
    });
  });

  it('is understood though records that came twice have drawn its counts below none', () => {
    const { counts, deliveries } = rowCounts({ PENDING: -3, SENT: 6 }, { delayed: -1, delivered: 2 });

    expect(DispatchItem.parse({ ...stored, counts, deliveries })).toMatchObject(rowCounts({ SENT: 6 }, { delivered: 2 }));
  });

  it('is understood though it lacks a count, and can so be counted anew', () => {
    const counts = { PENDING: 1, SENT: 2 };

    expect(DispatchItem.parse({ ...stored, counts, deliveries: {} })).toMatchObject(rowCounts(counts));
  });

  it('fails in a status nobody knows', () => {
    expect(() => DispatchItem.parse({ ...stored, status: 'PAUSED' })).toThrow();
  });
});

describe('what is packed is the same unpacked', () => {
  it('content', () => {
    const content = aContent({
      subject: '{{name}} – 면접',
      variables: { firm: '주식회사', list: [1, null, { a: true }] },
      replyTo: 'hr@example.org',
      unsubscribeUrl: 'https://example.org/u/{{id}}',
    });

    expect(decodeContent(encodeContent(content))).toEqual(content);
  });

  it('a batch', async () => {
    const batch = [{ applyId: '지원-1', email: 'kim@example.com', variables: { emoji: '😀', empty: '' } }];

    expect(decodeBatch(await encodeBatch(batch))).toEqual(batch);
  });

  it('and fails on bytes nobody packed', () => {
    expect(() => decodeBatch(new Uint8Array([1, 2, 3]))).toThrow();
    expect(() => decodeContent(gzipSync('[]'))).toThrow();
  });
});
