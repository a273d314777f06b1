import { randomBytes } from 'node:crypto';

import { DeleteCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { templateContentKey, templateKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createSesReadBudget } from '../../lambda/adapters/dynamo/control/ses-read-budget.ts';
import { createTemplateCopies } from '../../lambda/adapters/dynamo/control/template-copies.ts';
import { templateVersionOf } from '../../lambda/adapters/hashing/template-version.ts';
import { createTemplateSource } from '../../lambda/application/accept/find-template.ts';
import type { TemplateParts } from '../../lambda/domain/dispatch/content.ts';
import type { TemplateCopy } from '../../lambda/domain/dispatch/template-copy.ts';
import { T0 } from '../support/clock.ts';
import { createFakeTemplateFetcher } from '../support/fake-template-copies.ts';
import { startTable, type TestTable } from '../support/table.ts';

const DAY = 86_400;
const onUnreadable = (): void => undefined;
let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

/** Each has a memory of its own, as functions do. */
const copies = (now = T0) =>
  createTemplateCopies({ client: table.client, tableName: table.tableName, prefix: 'mail-', clock: () => now, onUnreadable });
const aTemplate = (subject: string): TemplateParts => ({ subject, html: `<p>${subject}</p>`, text: subject });
const aCopy = (template: TemplateParts, fetchedAt = T0): TemplateCopy => ({
  found: { kind: 'template', template, version: templateVersionOf(template) },
  fetchedAt,
  freshSeconds: 5,
});
const itemsOf = async (id: string): Promise<Record<string, unknown>[]> => {
  const { Items = [] } = await table.client.send(
    new QueryCommand({
      TableName: table.tableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': `TEMPLATE#mail-${id}` },
      ConsistentRead: true,
    }),
  );
  return Items;
};

describe('a copy in the table', () => {
  it('comes back as it was stored, to a function that did not store it', async () => {
    expect(await copies().find('plain')).toEqual({ isKnown: false });

    expect(await copies().store('plain', aCopy(aTemplate('one')))).toEqual(aCopy(aTemplate('one')));

    expect(await copies().find('plain')).toEqual({ copy: aCopy(aTemplate('one')), fetchedAt: T0, isKnown: true });
  });

  it('gives way to one whose fetch began later, and to no other', async () => {
    await copies().store('order', aCopy(aTemplate('second'), T0 + 2));

    expect(await copies().store('order', aCopy(aTemplate('first'), T0 + 1))).toEqual(aCopy(aTemplate('second'), T0 + 2));
    expect(await copies().store('order', { ...aCopy(aTemplate('same'), T0 + 2) })).toEqual(aCopy(aTemplate('second'), T0 + 2));
    await copies().store('order', aCopy(aTemplate('third'), T0 + 3));
    expect((await copies().find('order')).copy).toEqual(aCopy(aTemplate('third'), T0 + 3));
  });

  it('may say that there is none, for a day and under the same condition', async () => {
    const missing: TemplateCopy = { found: { kind: 'missing' }, fetchedAt: T0 + 1, freshSeconds: 5 };
    await copies().store('gone', aCopy(aTemplate('one')));
    await copies().store('gone', missing);

    expect(await copies().store('gone', aCopy(aTemplate('one')))).toEqual(missing);
    expect(await copies().find('gone')).toEqual({ copy: missing, fetchedAt: T0 + 1, isKnown: false });
    expect((await itemsOf('gone')).find(({ sk }) => sk === 'COPY')).toMatchObject({ expiresAt: T0 / 1000 + DAY });
  });

  it('keeps its content for two days, and writes it again only when it changes or is half as old', async () => {
    const contentOf = async (template: TemplateParts) =>
      (
        await table.client.send(
          new GetCommand({
            TableName: table.tableName,
            Key: templateContentKey('mail-kept', templateVersionOf(template)),
            ConsistentRead: true,
          }),
        )
      ).Item?.['expiresAt'] as unknown;
    const at = (seconds: number) => copies(T0 + seconds * 1000).store('kept', aCopy(aTemplate('one'), T0 + seconds * 1000));

    await at(0);
    expect(await contentOf(aTemplate('one'))).toBe(T0 / 1000 + 2 * DAY);
    await at(DAY);
    expect(await contentOf(aTemplate('one'))).toBe(T0 / 1000 + 2 * DAY);
    await at(DAY + 1);
    expect(await contentOf(aTemplate('one'))).toBe(T0 / 1000 + 3 * DAY + 1);
  });

  it('whose content has expired is none, but its scenario stays known and can be renewed', async () => {
    const copy = aCopy(aTemplate('one'));
    await copies().store('expired', copy);
    const Key = templateContentKey('mail-expired', templateVersionOf(aTemplate('one')));
    await table.client.send(new DeleteCommand({ TableName: table.tableName, Key }));

    const read = await copies().find('expired');
    expect(read).toEqual({ fetchedAt: T0, isKnown: true });
    const later = T0 + 3 * DAY * 1000;
    expect(await copies(later).lease('expired', read, later + 3_000, later)).toBe(true);
    await copies(later).store('expired', aCopy(aTemplate('one'), later));
    expect((await copies().find('expired')).copy).toEqual(aCopy(aTemplate('one'), later));
  });

  it('of a template as large as SES takes is one item', async () => {
    // Base64 is the least compressible content that mails have.
    const large = { subject: 'Large', html: randomBytes(380_000).toString('base64') };

    await copies().store('large', aCopy(large));

    expect(large.html.length).toBeGreaterThan(500_000);
    expect((await copies().find('large')).copy).toEqual(aCopy(large));
  });

  it('of a template that no item can hold says so', async () => {
    const html =
      Array.from(randomBytes(300_000).toString('latin1'), (char) => String.fromCharCode(0x4e00 + char.charCodeAt(0))).join('') +
      randomBytes(200_000).toString('hex');

    expect(await copies().store('too-large', aCopy({ subject: 'Large', html }))).toMatchObject({ found: { kind: 'too-large' } });
    expect(await copies().find('too-large')).toMatchObject({ copy: { found: { kind: 'too-large' } }, isKnown: true });
  });
});

describe('the lease of a fetcher', () => {
  it('goes to one of twenty', async () => {
    const read = await copies().find('leased');
    const won = await Promise.all(Array.from({ length: 20 }, (_, i) => copies().lease('leased', read, T0 + 3_000 + i, T0)));

    expect(won.filter(Boolean)).toHaveLength(1);
    expect((await itemsOf('leased'))[0]).toMatchObject({ expiresAt: T0 / 1000 + DAY });
  });

  it('is not given for a copy that was renewed meanwhile', async () => {
    const read = await copies().find('renewed');
    await copies().store('renewed', aCopy(aTemplate('one')));

    expect(await copies().lease('renewed', read, T0 + 3_000, T0)).toBe(false);
  });

  it('is prolonged and ended by its holder alone', async () => {
    const until = async () => (await copies().find('held')).leaseUntil;
    await copies().lease('held', { isKnown: false }, T0 + 3_000, T0);

    await copies().prolong('held', { from: T0 + 2_999, until: T0 + 9_000 });
    await copies().release('held', T0 + 2_999);
    expect(await until()).toBe(T0 + 3_000);
    await copies().prolong('held', { from: T0 + 3_000, until: T0 + 9_000 });
    expect(await until()).toBe(T0 + 9_000);
    await copies().release('held', T0 + 9_000);
    expect(await until()).toBeUndefined();
    await copies().release('never', T0);
    expect(
      await table.client.send(new GetCommand({ TableName: table.tableName, Key: templateKey('mail-never') })),
    ).not.toHaveProperty('Item');
  });
});

it('twenty-eight functions that ask for a cold scenario at once cause one fetch (V22)', async () => {
  const clock = Date.now;
  const fetcher = createFakeTemplateFetcher(clock);
  const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  fetcher.before = () => sleep(200);
  fetcher.templates.set('cold', aTemplate('one'));
  const source = () =>
    createTemplateSource({
      copies: createTemplateCopies({ client: table.client, tableName: table.tableName, prefix: 'mail-', clock, onUnreadable }),
      fetcher,
      budget: createSesReadBudget({
        client: table.client,
        tableName: table.tableName,
        clock,
        random: Math.random,
        sleep,
        onUnreadable,
      }),
      versionOf: templateVersionOf,
      clock,
      random: Math.random,
      sleep,
    });
  const startedAt = clock();

  const found = await Promise.all(Array.from({ length: 28 }, () => source().find('cold')));

  expect(found).toEqual(
    found.map(() => ({ kind: 'template', template: aTemplate('one'), version: templateVersionOf(aTemplate('one')) })),
  );
  expect(fetcher.calls).toHaveLength(1);
  expect(clock() - startedAt).toBeLessThan(10_000);
});
