import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';

import { readReplaceable } from '../../../../../../lambda/adapters/dynamo/client/replaceable-item.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const Key = { pk: 'THING#7', sk: 'STATE' };
const Schema = z.object({ name: z.string(), size: z.number().exactOptional() });
let unreadable: string[] = [];
const read = () =>
  readReplaceable(
    { client: documentClient(), tableName: 'mail', onUnreadable: (item) => void unreadable.push(item) },
    Key,
    Schema,
  );

beforeEach(() => {
  dynamo.reset();
  unreadable = [];
});

it.each<[string, object | undefined, object | undefined]>([
  ['is missing', undefined, undefined],
  ['is sound', { name: 'one', size: 2 }, { name: 'one', size: 2 }],
  ['lacks what says anything', { size: 2 }, undefined],
])('an item that %s is left as it is', async (_name, attributes, expected) => {
  dynamo.on(GetCommand).resolves(attributes ? { Item: { ...Key, ...attributes } } : {});

  expect(await read()).toEqual(expected);
  expect(dynamo.commandCalls(UpdateCommand)).toHaveLength(0);
});

it('only the attributes that cannot be read are removed, if they still are what was read', async () => {
  dynamo.on(GetCommand).resolves({ Item: { ...Key, name: 'one', size: 'large', other: 1 } });
  dynamo.on(UpdateCommand).resolves({});

  expect(await read()).toEqual({ name: 'one' });
  expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toEqual({
    TableName: 'mail',
    Key,
    UpdateExpression: 'REMOVE #size',
    ConditionExpression: '#size = :was_size',
    ExpressionAttributeNames: { '#size': 'size' },
    ExpressionAttributeValues: { ':was_size': 'large' },
  });
  // Without the id that is in the key.
  expect(unreadable).toEqual(['THING STATE']);
});

it('an item that was replaced meanwhile is read again, and not reported', async () => {
  dynamo
    .on(GetCommand)
    .resolvesOnce({ Item: { ...Key, name: 7 } })
    .resolves({ Item: { ...Key, name: 'two' } });
  dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

  expect(await read()).toEqual({ name: 'two' });
  expect(unreadable).toEqual([]);
});

it('an item that never stays still counts as missing, and trouble of the table is not hidden', async () => {
  dynamo.on(GetCommand).resolves({ Item: { ...Key, name: 7 } });
  dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));
  expect(await read()).toBeUndefined();

  dynamo.on(UpdateCommand).rejects(sdkError('TimeoutError'));
  await expect(read()).rejects.toThrow('TimeoutError');
});
