import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createContentRepository } from '../../../../../lambda/adapters/dynamo/content-repository.ts';
import { packContent } from '../../../../../lambda/adapters/dynamo/packing.ts';
import { aContent } from '../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const content = aContent({ subject: 'Hello {{name}}', variables: { firm: '주식회사' }, replyTo: 'hr@example.org' });
const holds = (sk: string, Item: Record<string, unknown>, dispatchId = 'd1') =>
  dynamo
    .on(GetCommand, { TableName: 'mail', Key: { pk: `DISPATCH#${dispatchId}`, sk }, ConsistentRead: true })
    .resolves({ Item });

const repository = (clock = createFakeClock()) => createContentRepository(documentClient(), 'mail', clock.now);

beforeEach(() => {
  dynamo.reset();
  dynamo.on(GetCommand).resolves({});
});

describe('the content of a dispatch', () => {
  it('is what was stored at accept (S16)', async () => {
    holds('CONTENT', { data: packContent(content) });

    expect(await repository().find('d1')).toEqual(content);
  });

  it('is read once, since it never changes', async () => {
    holds('CONTENT', { data: packContent(content) });
    const contents = repository();

    await contents.find('d1');
    await contents.find('d1');

    expect(dynamo.commandCalls(GetCommand)).toHaveLength(1);
  });

  it('of twenty dispatches stays in memory, and the oldest goes', async () => {
    for (let i = 0; i <= 20; i += 1) holds('CONTENT', { data: packContent(content) }, `d${i}`);
    const contents = repository();
    for (let i = 0; i <= 20; i += 1) await contents.find(`d${i}`);

    await contents.find('d20');
    expect(dynamo.commandCalls(GetCommand)).toHaveLength(21);
    await contents.find('d0');
    expect(dynamo.commandCalls(GetCommand)).toHaveLength(22);
  });

  it('is expired by its own timestamp, days before it is deleted', async () => {
    holds('CONTENT', { data: packContent(content), expiresAt: T0 / 1000 });
    holds('DISPATCH', { dispatchId: 'd1' });

    expect(await repository().find('d1')).toBe('expired');
  });

  it('is there until its timestamp', async () => {
    holds('CONTENT', { data: packContent(content), expiresAt: T0 / 1000 + 1 });

    expect(await repository().find('d1')).toEqual(content);
  });

  it('is expired when it is gone and its dispatch is known', async () => {
    holds('DISPATCH', { dispatchId: 'd1' });

    expect(await repository().find('d1')).toBe('expired');
  });

  it('belongs to no dispatch when neither is there (Q2)', async () => {
    expect(await repository().find('d1')).toBe('unknown-dispatch');
  });

  it('is unavailable while the table does not answer, and asked for again', async () => {
    dynamo
      .on(GetCommand)
      .rejectsOnce(sdkError('TimeoutError'))
      .resolves({ Item: { data: packContent(content) } });
    const contents = repository();

    expect(await contents.find('d1')).toBe('unavailable');
    expect(await contents.find('d1')).toEqual(content);
  });

  it.each<[string, Record<string, unknown>]>([
    ['an item of another shape', { data: 'text' }],
    ['bytes that are no gzip', { data: new Uint8Array([1, 2, 3]) }],
  ])('is broken when it is %s', async (_name, item) => {
    holds('CONTENT', item);

    expect(await repository().find('d1')).toBe('broken');
  });

  it('fails when permission is missing', async () => {
    dynamo.on(GetCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(repository().find('d1')).rejects.toThrow('AccessDeniedException');
  });
});
