import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { controlKey, type ItemKey, templateContentKey, templateKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createAccountRepository } from '../../lambda/adapters/dynamo/control/account-repository.ts';
import { createCanaryRepository } from '../../lambda/adapters/dynamo/control/canary-repository.ts';
import { createSesReadBudget } from '../../lambda/adapters/dynamo/control/ses-read-budget.ts';
import { createSweepStates } from '../../lambda/adapters/dynamo/control/sweep-states.ts';
import { createTemplateCopies } from '../../lambda/adapters/dynamo/control/template-copies.ts';
import { templateVersionOf } from '../../lambda/adapters/hashing/template-version.ts';
import { createTemplateSource } from '../../lambda/application/accept/find-template.ts';
import { anAccount } from '../support/account-builders.ts';
import { T0 } from '../support/clock.ts';
import { createFakeTemplateFetcher } from '../support/fake-template-copies.ts';
import { startTable, type TestTable } from '../support/table.ts';

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

let unreadable: string[] = [];
beforeEach(() => {
  unreadable = [];
});
const onUnreadable = (item: string): void => void unreadable.push(item);

const put = (Item: Record<string, unknown>) => table.client.send(new PutCommand({ TableName: table.tableName, Item }));
const itemAt = async (Key: ItemKey) =>
  (await table.client.send(new GetCommand({ TableName: table.tableName, Key, ConsistentRead: true }))).Item;

describe('the copy of a template', () => {
  const template = { subject: 'Hello', html: '<p>Hello</p>' };
  const version = templateVersionOf(template);
  const found = { kind: 'template', template, version };

  let day = T0;
  const nextDay = () => (day += 86_400_000);

  /** A function of its own: nothing is in its memory. */
  const aFunction = (now: number) => {
    const clock = () => now;
    const fetcher = createFakeTemplateFetcher(clock);
    fetcher.templates.set('hello', template);
    const deps = { client: table.client, tableName: table.tableName, clock, onUnreadable };
    // A function that waits for another would wait for ever at this clock.
    const sleep = () => Promise.reject(new Error('waited'));
    const source = createTemplateSource({
      copies: createTemplateCopies({ ...deps, prefix: '' }),
      fetcher,
      budget: createSesReadBudget({ ...deps, random: Math.random, sleep }),
      versionOf: templateVersionOf,
      clock,
      random: Math.random,
      sleep,
    });
    return { fetcher, find: () => source.find('hello') };
  };

  it.each([
    ['is no gzip', new Uint8Array([1, 2, 3])],
    ['is no binary', 'text'],
  ])('whose content %s is read from SES again, once, and written over', async (_name, data) => {
    const now = nextDay();
    await aFunction(now).find();
    await put({ ...templateContentKey('hello', version), data });
    const [first, second] = [aFunction(now + 10_000), aFunction(now + 11_000)];

    expect(await first.find()).toEqual(found);
    expect(await second.find()).toEqual(found);

    expect([first.fetcher.calls.length, second.fetcher.calls.length]).toEqual([1, 0]);
    expect(unreadable).toEqual(['TEMPLATE CONTENT']);
  });

  it.each<[string, object]>([
    ['fetchedAt', { fetchedAt: 'zzz' }],
    ['kind', { kind: 'strange' }],
    ['leaseUntil', { leaseUntil: 7, fetchedAt: 'zzz', contentUntil: 'never' }],
  ])('whose head has a strange %s is read from SES again, and written over', async (_name, attributes) => {
    const now = nextDay();
    await aFunction(now).find();
    await put({ ...(await itemAt(templateKey('hello'))), ...attributes });
    const [first, second] = [aFunction(now + 10_000), aFunction(now + 11_000)];

    expect(await first.find()).toEqual(found);
    expect(await second.find()).toEqual(found);

    expect([first.fetcher.calls.length, second.fetcher.calls.length]).toEqual([1, 0]);
    expect(unreadable).toEqual(['TEMPLATE COPY']);
  });
});

describe('the budget of reads', () => {
  const book = (now: number) => {
    const random = Math.random;
    const sleep = () => Promise.resolve();
    const deps = { client: table.client, tableName: table.tableName, clock: () => now, random, sleep, onUnreadable };
    return createSesReadBudget(deps).book('known-template', 't-1');
  };

  it.each<[string, object]>([
    ['next slot', { nextCallAt: 'soon' }],
    ['slot for unknown ids', { nextUnknownAt: 7 }],
    ['list of templates', { templates: ['t-1'] }],
    ['nothing else', { nextCallAt: null, nextUnknownAt: {}, nextAccountAt: [], templates: 'none' }],
  ])('whose item has a strange %s gives slots again', async (_name, attributes) => {
    await put({ ...controlKey('SES_READS'), nextCallAt: '2026-03-02T09:00:00.000Z', templates: {}, ...attributes });

    expect([await book(T0), await book(T0)]).toEqual([
      { isBooked: true, at: T0, freshSeconds: 5 },
      { isBooked: true, at: T0 + 1_000, freshSeconds: 5 },
    ]);
    expect(unreadable).toEqual(['CONTROL SES_READS']);
  });

  it('gives each of many callers that find it unreadable at once a slot of its own', async () => {
    await put({ ...controlKey('SES_READS'), nextCallAt: 'soon' });

    const slots = await Promise.all(Array.from({ length: 4 }, () => book(T0)));

    expect(slots.map((slot) => slot.isBooked && slot.at - T0).toSorted()).toEqual([0, 1_000, 2_000, 3_000]);
    expect(unreadable).toHaveLength(1);
  });
});

describe('the account item', () => {
  const accounts = () => createAccountRepository(table.client, table.tableName, onUnreadable);

  it.each<[string, object]>([
    ['age', { fetchedAt: 'zzz' }],
    ['rate', { rate: 'fast' }],
    ['age and rate', { fetchedAt: 9, rate: [] }],
  ])('with a strange %s counts as missing, and the next answer of SES replaces it', async (_name, attributes) => {
    await accounts().store(anAccount());
    await put({ ...(await itemAt(controlKey('ACCOUNT'))), ...attributes });

    expect(await accounts().read()).toBeUndefined();
    await accounts().store(anAccount({ fetchedAt: T0 + 1_000 }));

    expect(await accounts().read()).toEqual(anAccount({ fetchedAt: T0 + 1_000 }));
    await table.client.send(
      new UpdateCommand({ TableName: table.tableName, Key: controlKey('ACCOUNT'), UpdateExpression: 'REMOVE fetchedAt' }),
    );
  });
});

describe('the item of canaries', () => {
  const canaries = () => createCanaryRepository(table.client, table.tableName, onUnreadable);

  it('that is strange as a whole lets canaries be sent and shared again', async () => {
    await put({ ...controlKey('CANARY'), bookedAt: 'zzz', beganAt: 'zzz', canaryAnswer: 1, refusedCredentials: 'none' });
    const result = { beganAt: T0, answer: { kind: 'accepted', messageId: 'm-1' } } as const;

    expect(await canaries().newest()).toBeUndefined();
    expect(await canaries().book(T0, 10)).toBe(true);
    await canaries().record(result);

    expect(await canaries().newest()).toEqual(result);
    expect(await canaries().noteCredentials('e-1', T0)).toBe(1);
    expect(unreadable).toEqual(['CONTROL CANARY']);
  });
});

describe('the item of the sweeper', () => {
  const sweepStates = () => createSweepStates(table.client, table.tableName, onUnreadable);

  it('keeps each instant that can be read, whatever the others are', async () => {
    await put({ ...controlKey('SWEEPER'), lastPassAt: '2026-03-02T09:00:00.000Z', newestSentAt: 'zzz', roundSince: 4 });

    expect(await sweepStates().lastPassAt()).toBe(T0);
    expect(await sweepStates().openRound()).toBeUndefined();
    expect(await sweepStates().newestSent(T0 + 1)).toBe(T0 + 1);
  });

  it('has its last pass replaced by the next one, and until then does not say when it was', async () => {
    await put({ ...controlKey('SWEEPER'), lastPassAt: 'zzz', newestSentAt: '2026-03-02T09:00:00.000Z' });

    expect(await sweepStates().lastPassAt()).toBe('unavailable');
    await sweepStates().passed(T0 + 1);

    expect([await sweepStates().lastPassAt(), await sweepStates().newestSent(undefined)]).toEqual([T0 + 1, T0]);
    expect(unreadable).toEqual(['CONTROL SWEEPER']);
  });
});
