import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { normaliseAddress } from '../../lambda/adapters/addresses/normalise-address.ts';
import { decodeContent } from '../../lambda/adapters/dynamo/client/codec.ts';
import { contentKey, dispatchKey, recipientKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createAcceptRepository } from '../../lambda/adapters/dynamo/dispatch/accept-repository.ts';
import { createBatchRepository } from '../../lambda/adapters/dynamo/dispatch/batch-repository.ts';
import { createReadRepository } from '../../lambda/adapters/dynamo/query/read-repository.ts';
import { dispatchIdOf } from '../../lambda/adapters/hashing/dispatch-id.ts';
import { fingerprintOf } from '../../lambda/adapters/hashing/fingerprint.ts';
import { createCheckContent } from '../../lambda/adapters/template/content/check-content.ts';
import { type AcceptResult, createAcceptDispatch } from '../../lambda/application/accept/accept-dispatch.ts';
import type { RecipientPosition } from '../../lambda/application/ports/queries.ts';
import { createReadDispatch } from '../../lambda/application/queries/read-dispatch.ts';
import { createExpandBatch } from '../../lambda/application/tasks/expand-batch.ts';
import { createRequestParser } from '../../lambda/contracts/http/request/dispatch-request.ts';
import type { TemplateParts } from '../../lambda/domain/dispatch/content.ts';
import { NO_COUNTS } from '../../lambda/domain/dispatch/dispatch.ts';
import { shardOf } from '../../lambda/domain/dispatch/shards.ts';
import { type RecipientStatus } from '../../lambda/domain/recipient/recipient.ts';
import { createFakeObjects } from '../support/fake-objects.ts';
import { startTable, type TestTable } from '../support/table.ts';

let table: TestTable;
let templates: Map<string, TemplateParts>;
beforeAll(async () => {
  table = await startTable();
  templates = new Map([['interview', { subject: 'For {{name}}', html: '<p>{{name}}, {{company}}</p>', text: 'Dear {{name}}' }]]);
});
afterAll(async () => {
  await table.stop();
});

const objects = createFakeObjects();
const parse = createRequestParser(normaliseAddress);

/** Each caller has a client's view of its own, as each Lambda environment has. */
const accept = (body: object, key: string, admin = 'admin-1', clock = Date.now): Promise<AcceptResult> => {
  const parsed = parse(JSON.parse(JSON.stringify(body)));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const use = createAcceptDispatch({
    dispatches: createAcceptRepository({
      client: table.client,
      tableName: table.tableName,
      objects,
      clock: Date.now,
      random: Math.random,
      sleep,
      newId: randomUUID,
    }),
    templates: {
      find: (scenarioId) => {
        const template = templates.get(scenarioId);
        return Promise.resolve(template && { kind: 'template', template, version: 'v-1' });
      },
    },
    isAllowedRecipient: () => true,
    hashes: { dispatchId: dispatchIdOf, fingerprint: fingerprintOf },
    checkContent: createCheckContent(1_000_000),
    beginEstimate: () => () => Promise.resolve(undefined),
    repeatGuardSeconds: 600,
    clock,
    from: 'jobs@example.com',
    replyTo: undefined,
  });
  return use(admin, key, parsed.request);
};

const recipients = (n: number) =>
  Array.from({ length: n }, (_, i) => ({ applyId: i, email: `kim.${i}@example.com`, variables: { name: `Kim ${i}` } }));
const body = (n: number, more: object = {}) => ({
  scenarioId: 'interview',
  recruitId: 7,
  recipients: recipients(n),
  variables: { company: 'Acme' },
  // Most tests ask for the same content, each for reasons of its own.
  allowRepeat: true,
  ...more,
});
const idOf = (result: AcceptResult): string => {
  if (!('dispatch' in result)) throw new Error(result.outcome);
  return result.dispatch.dispatchId;
};
const partition = async (pk: string) =>
  (
    await table.client.send(
      new QueryCommand({
        TableName: table.tableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ConsistentRead: true,
      }),
    )
  ).Items ?? [];

const reader = () => createReadDispatch(createReadRepository(table.client, table.tableName, Date.now));
const me = { adminId: 'admin-1', isOperator: false };
const applyIds = async (dispatchId: string, limit: number, status?: RecipientStatus): Promise<string[]> => {
  const found: string[] = [];
  let from: RecipientPosition | undefined = { shard: 0 };
  while (from !== undefined) {
    const page = await reader().recipients(me, dispatchId, { from, limit, ...(status !== undefined && { status }) });
    found.push(...(page?.recipients ?? []).map(({ applyId }) => applyId));
    from = page?.next;
  }
  return found;
};

describe('accepting', () => {
  it('the same again is one dispatch and a replay (A1)', async () => {
    const first = await accept(body(3), 'again');
    const second = await accept(body(3), 'again');

    expect([first.outcome, second.outcome]).toEqual(['accepted', 'replayed']);
    expect(idOf(second)).toBe(idOf(first));
    expect(await partition(`DISPATCH#${idOf(first)}#0`)).toHaveLength(3);
  });

  it.each([5, 500])('the same 20 times at once is one dispatch of %d and 19 replays (A2)', async (n) => {
    const results = await Promise.all(Array.from({ length: 20 }, () => accept(body(n), `parallel-${n}`)));

    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['accepted', ...Array.from({ length: 19 }, () => 'replayed')]);
    expect(new Set(results.map(idOf)).size).toBe(1);
  });

  it.each<[string, object]>([
    ['scenarioId', { scenarioId: 'other' }],
    ['recruitId', { recruitId: 8 }],
    ['recipients[].applyId', { recipients: recipients(4) }],
    ['recipients[].applyId', { recipients: recipients(2) }],
    ['recipients[].email', { recipients: recipients(3).map((r, i) => (i === 1 ? { ...r, email: 'new@example.com' } : r)) }],
    ['recipients[].variables', { recipients: recipients(3).map((r, i) => (i === 1 ? { ...r, variables: { name: 'New' } } : r)) }],
    ['subject', { subject: 'New' }],
    ['variables', { variables: { company: 'Acme Ltd' } }],
    ['isTest', { isTest: true }],
    ['unsubscribe', { unsubscribe: { url: 'https://example.com/u' } }],
  ])('another %s under the key is a conflict that names it (A3)', async (field, change) => {
    const key = randomUUID();
    await accept(body(3), key);

    expect(await accept(body(3, change), key)).toEqual({ outcome: 'conflict', fields: [field] });
  });

  it.each<[string, object]>([
    ['JSON keys in another order', Object.fromEntries(Object.entries(body(3)).reverse())],
    ['recipients in another order', body(3, { recipients: recipients(3).reverse() })],
    ['the subject null', body(3, { subject: null })],
    ['the subject empty', body(3, { subject: '' })],
    ['ids as text', body(3, { recruitId: '7', recipients: recipients(3).map((r) => ({ ...r, applyId: String(r.applyId) })) })],
    [
      'an address in another form',
      body(3, { recipients: recipients(3).map((r) => ({ ...r, email: ` ${r.email.replace('example', 'EXAMPLE')}` })) }),
    ],
  ])('the same with %s is a replay (A4)', async (_name, same) => {
    const key = randomUUID();
    await accept(body(3), key);

    expect(await accept(same, key)).toMatchObject({ outcome: 'replayed' });
  });

  it('one key of two admins is two dispatches (A5)', async () => {
    const [mine, theirs] = [await accept(body(1), 'shared', 'admin-1'), await accept(body(1), 'shared', 'admin-2')];

    expect(idOf(theirs)).not.toBe(idOf(mine));
    expect(await reader().dispatch(me, idOf(theirs))).toBeUndefined();
  });

  it('a key of a record without a fingerprint is a conflict (A8)', async () => {
    const id = idOf(await accept(body(1), 'old'));
    await table.client.send(
      new UpdateCommand({
        TableName: table.tableName,
        Key: dispatchKey(id),
        UpdateExpression: 'REMOVE fingerprint, fieldHashes',
      }),
    );

    expect(await accept(body(1), 'old')).toEqual({ outcome: 'conflict', fields: [] });
  });

  it('a refusal stores nothing and leaves its key free (S11)', async () => {
    const lacking = body(500, { recipients: recipients(500).map((r, i) => (i % 200 === 3 ? { ...r, variables: {} } : r)) });

    expect(await accept(lacking, 'refused')).toMatchObject({ outcome: 'cannot-render', total: 3 });
    expect(await partition(`DISPATCH#${dispatchIdOf('admin-1', 'refused')}`)).toEqual([]);
    expect(await accept(body(500), 'refused')).toMatchObject({ outcome: 'accepted' });
  });

  it('keeps the template as it was (S16)', async () => {
    templates.set('changing', { subject: 'Old', text: 'Old' });
    const id = idOf(await accept(body(1, { scenarioId: 'changing' }), 'snapshot'));
    templates.delete('changing');

    const { Item } = await table.client.send(new GetCommand({ TableName: table.tableName, Key: contentKey(id) }));
    expect(decodeContent(Item?.['data'] as Uint8Array).template).toEqual({ subject: 'Old', text: 'Old' });
    expect(await accept(body(1, { scenarioId: 'changing' }), 'snapshot')).toMatchObject({ outcome: 'replayed' });
  });
});

describe('the same content under another key', () => {
  const once = (recruitId: string, n = 3) => body(n, { recruitId, allowRepeat: false });
  const MINUTE = 60_000;

  it.each([5, 500])('20 times at once is one dispatch of %d and 19 possible duplicates of it', async (n) => {
    const results = await Promise.all(Array.from({ length: 20 }, (_, i) => accept(once(`click-${n}`, n), `click-${n}-${i}`)));

    const taken = results.filter(({ outcome }) => outcome === 'accepted').map(idOf);
    expect(taken).toHaveLength(1);
    expect(results.filter(({ outcome }) => outcome !== 'accepted')).toEqual(
      Array.from({ length: 19 }, () => ({ outcome: 'possible-duplicate', dispatchId: taken[0] })),
    );
  });

  it('of another admin is a possible duplicate too, of which no more is told', async () => {
    await accept(once('two-admins'), 'k', 'admin-1');

    expect(await accept(once('two-admins'), 'k', 'admin-2')).toEqual({ outcome: 'possible-duplicate' });
  });

  it('stores nothing, and leaves the key free', async () => {
    await accept(once('free'), 'free-1');
    await accept(once('free'), 'free-2');

    expect(await partition(`DISPATCH#${dispatchIdOf('admin-1', 'free-2')}`)).toEqual([]);
    expect(await accept(once('another'), 'free-2')).toMatchObject({ outcome: 'accepted' });
  });

  it('is accepted when the guard is over, though TTL has not removed it', async () => {
    const now = Date.now();
    await accept(once('later'), 'later-1', 'admin-1', () => now);

    const early = await accept(once('later'), 'later-2', 'admin-1', () => now + 9 * MINUTE);
    const late = await accept(once('later'), 'later-2', 'admin-1', () => now + 10 * MINUTE);

    expect([early.outcome, late.outcome]).toEqual(['possible-duplicate', 'accepted']);
  });

  it('is accepted if that is allowed, and guards in its turn', async () => {
    const first = await accept(once('allowed'), 'allowed-1');
    const second = await accept({ ...once('allowed'), allowRepeat: true }, 'allowed-2');

    expect(second).toMatchObject({ outcome: 'accepted' });
    expect(idOf(second)).not.toBe(idOf(first));
    expect(await accept(once('allowed'), 'allowed-3')).toEqual({ outcome: 'possible-duplicate', dispatchId: idOf(second) });
  });

  it('is accepted as a test', async () => {
    const test = { ...once('test'), isTest: true };

    expect([await accept(test, 'test-1'), await accept(test, 'test-2')]).toMatchObject([
      { outcome: 'accepted' },
      { outcome: 'accepted' },
    ]);
  });

  it('is a replay under the key that was accepted, whatever the guard says (A2)', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => accept(once('same-key'), 'same-key')));

    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['accepted', ...Array.from({ length: 19 }, () => 'replayed')]);
  });

  it('fits into the transaction with as many recipients as can be', async () => {
    expect(await accept(once('most', 97), 'most')).toMatchObject({ outcome: 'accepted' });
  });
});

describe('a dispatch of any size', () => {
  it.each([1, 96, 97, 98, 99, 100, 101, 1_000, 2_500])('of %d has each recipient once, counted and listed (O6)', async (n) => {
    const id = idOf(await accept(body(n), `size-${n}`));
    expect((await reader().dispatch(me, id))?.counts).toEqual({ ...NO_COUNTS, PENDING: n });

    const batches = (await partition(`DISPATCH#${id}`)).filter(({ sk }) => String(sk).startsWith('BATCH#'));
    const { client, tableName } = table;
    const expand = createExpandBatch(createBatchRepository({ client, tableName, objects, random: Math.random, sleep }), Date.now);
    for (const batch of batches.keys()) await expand({ dispatchId: id, batch }, () => true);

    expect((await reader().dispatch(me, id))?.counts).toEqual({ ...NO_COUNTS, PENDING: n });
    const listed = await applyIds(id, 300);
    expect(listed).toHaveLength(n);
    expect(new Set(listed)).toEqual(new Set(recipients(n).map(({ applyId }) => String(applyId))));
  });

  it('lists the few of a status among many', async () => {
    const id = idOf(await accept(body(60), 'few'));
    for (const applyId of ['7', '31', '59']) {
      await table.client.send(
        new UpdateCommand({
          TableName: table.tableName,
          Key: recipientKey({ dispatchId: id, shard: shardOf(applyId, 1), applyId }),
          UpdateExpression: 'SET #status = :sent, messageId = :id, sentAt = :at',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':sent': 'SENT', ':id': `ses-${applyId}`, ':at': '2026-03-02T09:00:00.000Z' },
        }),
      );
    }

    expect((await applyIds(id, 2, 'SENT')).sort()).toEqual(['31', '59', '7']);
    expect(await reader().dispatch(me, id)).toMatchObject({
      dispatch: { status: 'IN_PROGRESS' },
      counts: { SENT: 3, PENDING: 57 },
    });
  });

  it('is completed for its reader as soon as all rows are final', async () => {
    const id = idOf(await accept(body(1), 'final'));
    const key = recipientKey({ dispatchId: id, shard: 0, applyId: '0' });
    const [row] = await partition(key.pk);
    await table.client.send(
      new PutCommand({
        TableName: table.tableName,
        Item: { ...row, status: 'FAILED', lastErrorCode: 'MESSAGE_REJECTED', failedAt: '2026-03-02T09:00:00.000Z' },
      }),
    );

    expect(await reader().dispatch(me, id)).toMatchObject({ dispatch: { status: 'COMPLETED', outcome: 'none-sent' } });
  });
});
