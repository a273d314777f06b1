import { randomBytes } from 'node:crypto';

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { encodeBatch } from '../../lambda/adapters/dynamo/client/codec.ts';
import { batchKey, contentKey, dispatchKey, shardPartition } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createContentRepository } from '../../lambda/adapters/dynamo/dispatch/content-repository.ts';
import { createObjectReader } from '../../lambda/adapters/s3/object-reader.ts';
import type { NewDispatch } from '../../lambda/application/ports/accept.ts';
import type { ObjectWriter } from '../../lambda/application/ports/objects.ts';
import type { RecipientInput } from '../../lambda/domain/dispatch/content.ts';
import { startCountingProxies } from '../../tools/costs/counts/proxies.ts';
import { aNewDispatch, someRecipientInputs } from '../support/accept-builders.ts';
import { type ListWorld, startListWorld } from '../support/list-world.ts';
import { startTable, type TestTable } from '../support/table.ts';

const HOUR = 3_600_000;
let table: TestTable;
let world: ListWorld;
beforeAll(async () => {
  table = await startTable();
  world = await startListWorld(table);
});
afterAll(async () => {
  await world.stop();
  await table.stop();
});

const entryOf = (dispatchId: string, recipients: readonly RecipientInput[], html?: string): NewDispatch => {
  const entry = aNewDispatch([...recipients], html === undefined ? {} : { html });
  return { ...entry, dispatch: { ...entry.dispatch, dispatchId, createdAt: Date.now() } };
};
const get = async (Key: { pk: string; sk: string }) =>
  (await table.client.send(new GetCommand({ TableName: table.tableName, Key, ConsistentRead: true }))).Item;
const objectOf = async (id: string, batch: number) => String((await get(batchKey(id, batch)))?.['object']);
const applyIdsOf = async (id: string, shards: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let shard = 0; shard < shards; shard += 1) {
    const { Items = [] } = await table.client.send(
      new QueryCommand({
        TableName: table.tableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': shardPartition(id, shard) },
        ProjectionExpression: 'sk',
      }),
    );
    ids.push(...Items.map(({ sk }) => String(sk).slice('RECIPIENT#'.length)));
  }
  return ids.sort();
};
const idsOf = (recipients: readonly RecipientInput[]) => recipients.map(({ applyId }) => applyId).sort();
const deleteObject = (Key: string) => world.s3.send(new DeleteObjectCommand({ Bucket: world.bucket, Key }));
const putObject = (Key: string, Body: Uint8Array) => world.s3.send(new PutObjectCommand({ Bucket: world.bucket, Key, Body }));

describe('write units of one accept, counted at the door of the table', () => {
  const wide = (bytes: number) => () => ({ note: randomBytes(bytes / 2).toString('hex') });
  const html = () => randomBytes(30_000).toString('base64');

  it('are at most 300 for any partition key, from 1 to 50,000 recipients', async () => {
    const endpoint = await table.client.config.endpoint?.();
    const proxies = await startCountingProxies({
      dynamodb: `http://127.0.0.1:${endpoint?.port ?? 0}`,
      sqs: 'http://127.0.0.1:1',
    });
    const through = DynamoDBDocumentClient.from(
      new DynamoDBClient({
        endpoint: proxies.dynamodb,
        region: 'eu-west-1',
        credentials: { accessKeyId: 'a', secretAccessKey: 's' },
      }),
      { marshallOptions: { removeUndefinedValues: true } },
    );
    const sizes = [
      [1, 4_000],
      [97, 600],
      [97, 4_000],
      [98, 4_000],
      [5_000, 4_000],
      [50_000, 440],
    ] as const;
    const counted: string[] = [];
    for (const [n, bytes] of sizes) {
      const entry = entryOf(`units-${n}-${bytes}`, someRecipientInputs(n, wide(bytes)), html());
      const startedAt = performance.now();
      const before = process.memoryUsage().rss;
      expect(await world.accept(world.writer, through).create(entry)).toEqual({ outcome: 'created' });
      const ms = Math.round(performance.now() - startedAt);
      const moreMb = Math.round((process.memoryUsage().rss - before) / 2 ** 20);
      const { units = 0, billed = 0 } = proxies.read().transactions.at(-1) ?? {};
      counted.push(
        `${n} recipients of ${bytes} bytes: at most ${units} write units a key, ${billed} in all; ${ms} ms, ${moreMb} MB`,
      );
    }
    process.stdout.write(`${counted.join('\n')}\n`);
    proxies.stop();
    through.destroy();

    const { transactions } = proxies.read();
    expect(transactions).toHaveLength(sizes.length);
    for (const { units } of transactions) expect(units).toBeLessThanOrEqual(300);
  });
});

describe('a long list', () => {
  it('becomes its recipients, each once, and leaves neither items nor objects', async () => {
    const recipients = someRecipientInputs(2_300);
    await world.accept().create(entryOf('whole', recipients));
    expect((await world.keys()).filter((key) => key.includes('/whole/'))).toHaveLength(3);

    expect([await world.expand('whole', 0), await world.expand('whole', 1), await world.expand('whole', 2)]).toEqual([
      'expanded',
      'expanded',
      'expanded',
    ]);

    expect(await applyIdsOf('whole', 3)).toEqual(idsOf(recipients));
    expect((await world.keys()).filter((key) => key.includes('/whole/'))).toEqual([]);
    expect(await get(batchKey('whole', 0))).toBeUndefined();
  });

  it('is done for the second of two messages of one batch, whenever it comes (V31)', async () => {
    await world.accept().create(entryOf('twice', someRecipientInputs(600)));
    const results = await Promise.all([world.expand('twice', 0), world.expand('twice', 0)]);
    results.push(await world.expand('twice', 0));

    expect(results.filter((result) => result !== 'expanded' && result !== 'already-expanded')).toEqual([]);
    expect(await applyIdsOf('twice', 1)).toHaveLength(600);
    expect(await get(dispatchKey('twice'))).toMatchObject({ status: 'ACCEPTED' });
  });

  it('is done for a worker that finds the object gone because another one has expanded the batch (V31)', async () => {
    await world.accept().create(entryOf('overtaken', someRecipientInputs(200)));
    const key = { dispatchId: 'overtaken', batch: 0 };
    const found = await world.batches.find(key);
    if (found === undefined) throw new Error('there is no batch');
    await world.expand('overtaken', 0);

    expect(await world.batches.recipients(found)).toBe('unreadable');
    expect(await world.batches.stopUnreadable(key, found, Date.now())).toBe('not-named');
    expect(await get(dispatchKey('overtaken'))).toMatchObject({ status: 'ACCEPTED' });
  });

  it('is never another one, though a repetition with reordered recipients stores its objects after the commit (V26)', async () => {
    const recipients = someRecipientInputs(1_500);
    const late = Promise.withResolvers<undefined>();
    // Begun before the first one committed, and slow to store.
    const slow: ObjectWriter = {
      begin: (id) => {
        const objects = world.writer.begin(id);
        return { put: (name, body) => late.promise.then(() => objects.put(name, body)) };
      },
    };
    const second = world.accept(slow).create(entryOf('reordered', recipients.toReversed()));
    expect(await world.accept().create(entryOf('reordered', recipients))).toEqual({ outcome: 'created' });
    const named = await objectOf('reordered', 0);
    late.resolve(undefined);

    expect(await second).toMatchObject({ outcome: 'exists' });
    expect(await objectOf('reordered', 0)).toBe(named);
    await world.expand('reordered', 0);
    await world.expand('reordered', 1);
    expect(await applyIdsOf('reordered', 2)).toEqual(idsOf(recipients));
  });

  it('is that of the request which won, though another body came under the same key at the same time', async () => {
    const [ours, theirs] = [
      someRecipientInputs(1_200),
      someRecipientInputs(1_300).map((each) => ({ ...each, applyId: `b-${each.applyId}` })),
    ];
    const results = await Promise.all([ours, theirs].map((recipients) => world.accept().create(entryOf('changed', recipients))));

    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['created', 'exists']);
    await world.expand('changed', 0);
    await world.expand('changed', 1);
    expect(await applyIdsOf('changed', 2)).toEqual(idsOf(results[0]?.outcome === 'created' ? ours : theirs));
  });
});

describe('an object that cannot be read', () => {
  it.each([
    ['missing', deleteObject],
    ['altered', async (key: string) => putObject(key, await encodeBatch(someRecipientInputs(3)))],
  ])('because it is %s stops its dispatch, and works again once it is restored (V26)', async (how, damage) => {
    const recipients = someRecipientInputs(150);
    await world.accept().create(entryOf(how, recipients));
    const key = await objectOf(how, 0);
    const bytes = await createObjectReader(world.s3, world.bucket).read(key);
    await damage(key);

    expect(await world.expand(how, 0)).toBe('stopped');
    expect(await get(dispatchKey(how))).toMatchObject({ status: 'STOPPED', failureReason: 'recipients-unreadable' });
    expect(await applyIdsOf(how, 1)).toEqual([]);
    expect(await world.expand(how, 0)).toBe('unreadable');

    if (typeof bytes !== 'string') await putObject(key, bytes);
    expect(await world.expand(how, 0)).toBe('expanded');
    expect(await applyIdsOf(how, 1)).toEqual(idsOf(recipients));
  });

  it('stops a dispatch whose content it holds', async () => {
    await world.accept().create(entryOf('content', someRecipientInputs(1), randomBytes(70_000).toString('base64')));
    const object: unknown = (await get(contentKey('content')))?.['object'];
    const { client, tableName } = table;
    const contents = createContentRepository({
      client,
      tableName,
      objects: createObjectReader(world.s3, world.bucket),
      clock: Date.now,
    });
    await deleteObject(String(object));

    const found = await contents.find('content');
    expect(found).toEqual({ unreadable: object });
    expect(await contents.stopUnreadable('content', { unreadable: String(object) }, Date.now())).toBe(true);
    expect(await get(dispatchKey('content'))).toMatchObject({ status: 'STOPPED', failureReason: 'content-unreadable' });
  });
});

describe('a batch of a cancelled dispatch', () => {
  it('is removed unread and counted, so that a missing object keeps nobody from cancelling', async () => {
    await world.accept().create(entryOf('cancelled', someRecipientInputs(1_100)));
    for (const batch of [0, 1]) await deleteObject(await objectOf('cancelled', batch));
    await table.client.send(
      new UpdateCommand({
        TableName: table.tableName,
        Key: dispatchKey('cancelled'),
        UpdateExpression: 'SET #status = :cancelled',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':cancelled': 'CANCELLED' },
      }),
    );

    expect(await world.batches.left('cancelled')).toMatchObject([{ count: 1_000 }, { count: 100 }]);
    expect(await world.expand('cancelled', 0)).toBe('dropped');
    expect(await world.batches.drop({ dispatchId: 'cancelled', batch: 1 }, 100)).toBe(true);
    expect(await world.batches.drop({ dispatchId: 'cancelled', batch: 1 }, 100)).toBe(false);
    expect(await get(dispatchKey('cancelled'))).toMatchObject({
      unexpanded: 1_100,
      counts: { PENDING: 0, CANCELLED: 1_100 },
    });
  });
});

describe('objects that no item names', () => {
  it('go after an hour, and those that a batch or a content names stay (V31)', async () => {
    const recipients = someRecipientInputs(500);
    const html = randomBytes(70_000).toString('base64');
    await world.accept().create(entryOf('kept', recipients, html));
    // A try that died before its commit.
    await world.writer.begin('kept').put('0', await encodeBatch(recipients));
    const ofKept = async () => (await world.keys()).filter((key) => key.includes('/kept/'));
    expect(await ofKept()).toHaveLength(3);

    const report = await world.deleteOrphans(Date.now() + 2 * HOUR);

    expect(report?.batchesOverdue).toBeGreaterThan(0);
    expect((await ofKept()).toSorted()).toEqual(
      [String((await get(contentKey('kept')))?.['object']), await objectOf('kept', 0)].toSorted(),
    );
    await world.expand('kept', 0);
    expect(await applyIdsOf('kept', 1)).toEqual(idsOf(recipients));

    // Five days on: nothing has expired, so the content of a retry is there.
    await world.deleteOrphans(Date.now() + 5 * 24 * HOUR);
    expect(await ofKept()).toEqual([String((await get(contentKey('kept')))?.['object'])]);

    await table.client.send(
      new PutCommand({ TableName: table.tableName, Item: { ...contentKey('kept'), data: new Uint8Array() } }),
    );
    await world.deleteOrphans(Date.now() + 6 * 24 * HOUR);
    expect(await ofKept()).toEqual([]);
  });
});
