import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createFeedbackRepository } from '../../../../../../lambda/adapters/dynamo/control/feedback-repository.ts';
import type { FeedbackRepository } from '../../../../../../lambda/application/ports/control.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const repository = () => createFeedbackRepository(documentClient(), 'mail');
const KEY = { pk: 'CONTROL', sk: 'FEEDBACK' };
const AT_T0 = '2026-03-02T09:00:00.000Z';
const DAY_MS = 86_400_000;

const updates = () => dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input);
const refused = new ConditionalCheckFailedException({ message: 'no', $metadata: { httpStatusCode: 400 } });

beforeEach(() => {
  dynamo.reset();
  dynamo.on(UpdateCommand).resolves({});
});

describe('what the feedback says', () => {
  it('is read consistently, in one go', async () => {
    dynamo.on(GetCommand, { TableName: 'mail', Key: KEY, ConsistentRead: true }).resolves({
      Item: {
        ...KEY,
        watermark: '2026-03-02T09:01:00.000Z',
        unapplied: { 'lease-1': AT_T0, '-2026-03-02T09:00:00.000Z': AT_T0 },
        behindAt: AT_T0,
      },
    });

    expect(await repository().read()).toEqual({
      watermark: T0 + 60_000,
      unapplied: [{ lease: 'lease-1', sentAt: T0 }, { sentAt: T0 }],
      behindAt: T0,
    });
  });

  it.each<[string, Record<string, unknown> | undefined]>([
    ['there is no item', undefined],
    ['the item has nothing of ours', { ...KEY }],
  ])('is nothing while %s', async (_name, Item) => {
    dynamo.on(GetCommand).resolves(Item === undefined ? {} : { Item });

    expect(await repository().read()).toEqual({ unapplied: [] });
  });

  it.each([sdkError('TimeoutError'), sdkError('InternalServerError', 500), sdkError('ThrottlingException', 400)])(
    'cannot be told while the table does not answer: $name',
    async (error) => {
      dynamo.on(GetCommand).rejects(error);

      expect(await repository().read()).toBe('unavailable');
    },
  );

  it('fails when permission is missing', async () => {
    dynamo.on(GetCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(repository().read()).rejects.toThrow('AccessDeniedException');
  });

  it('is not heard when no version of this code wrote the item', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...KEY, watermark: 'yesterday' } });

    expect(await repository().read()).toBe('unavailable');
  });
});

describe.each(['watermark', 'behindAt'] as const)('%s', (name) => {
  it('moves on, never back', async () => {
    await (name === 'watermark' ? repository().moveWatermark(T0) : repository().recordBehind(T0));

    expect(updates()).toEqual([
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: `SET ${name} = :to`,
        ConditionExpression: `attribute_not_exists(${name}) OR NOT (${name} BETWEEN :from AND :last)`,
        ExpressionAttributeValues: { ':to': AT_T0, ':from': AT_T0, ':last': '9999-12-31T00:00:00.000Z' },
      },
    ]);
  });
});

/** Answers the write that opens the map with the events that are in it. */
const holding = (unapplied: Record<string, string>) =>
  dynamo.on(UpdateCommand, { ReturnValues: 'ALL_NEW' }).resolves({ Attributes: { ...KEY, unapplied } });

describe('unapplied events', () => {
  it('are added to a map that is there, within its room', async () => {
    holding({});

    expect(await repository().addUnapplied([{ lease: 'lease-1', sentAt: T0 }, { sentAt: T0 + 1 }], T0)).toBe(true);

    expect(updates()).toEqual([
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: 'SET unapplied = if_not_exists(unapplied, :none)',
        ExpressionAttributeValues: { ':none': {} },
        ReturnValues: 'ALL_NEW',
      },
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: 'SET unapplied.#k0 = :t0, unapplied.#k1 = :t1',
        ConditionExpression: 'size(unapplied) <= :room',
        ExpressionAttributeNames: { '#k0': 'lease-1', '#k1': '-2026-03-02T09:00:00.001Z' },
        ExpressionAttributeValues: { ':t0': AT_T0, ':t1': '2026-03-02T09:00:00.001Z', ':room': 298 },
      },
    ]);
  });

  it('that are there already need no room', async () => {
    holding({ 'lease-1': AT_T0 });

    await repository().addUnapplied([{ lease: 'lease-1', sentAt: T0 }], T0);

    expect(updates().at(-1)?.ExpressionAttributeValues).toMatchObject({ ':room': 300 });
  });

  it('about one attempt are one entry', async () => {
    holding({});

    await repository().addUnapplied(
      [
        { lease: 'lease-1', sentAt: T0 },
        { lease: 'lease-1', sentAt: T0 },
      ],
      T0,
    );

    expect(updates().at(-1)?.UpdateExpression).toBe('SET unapplied.#k0 = :t0');
  });

  it('whose names are words of JavaScript need room as others do', async () => {
    holding({});

    await repository().addUnapplied([{ lease: 'constructor', sentAt: T0 }], T0);

    expect(updates().at(-1)?.ExpressionAttributeValues).toMatchObject({ ':room': 299 });
  });

  it('older than 14 days make way', async () => {
    holding({ old: '2026-02-16T08:59:59.999Z', young: '2026-02-16T09:00:00.000Z' });

    await repository().addUnapplied([{ lease: 'lease-1', sentAt: T0 }], T0);

    expect(updates()[1]).toEqual({
      TableName: 'mail',
      Key: KEY,
      UpdateExpression: 'REMOVE unapplied.#k0',
      ConditionExpression: 'attribute_exists(unapplied)',
      ExpressionAttributeNames: { '#k0': 'old' },
    });
    expect(updates()).toHaveLength(3);
  });

  it('make way a hundred at a time, as an expression must stay short', async () => {
    const old = new Date(T0 - 15 * DAY_MS).toISOString();
    holding(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`l-${i}`, old])));

    await repository().addUnapplied([{ lease: 'lease-1', sentAt: T0 }], T0);

    expect(Object.keys(updates()[1]?.ExpressionAttributeNames ?? {})).toHaveLength(100);
  });

  it('are refused when there is no room', async () => {
    dynamo
      .on(UpdateCommand)
      .resolvesOnce({ Attributes: { ...KEY, unapplied: {} } })
      .rejects(refused);

    expect(await repository().addUnapplied([{ lease: 'lease-1', sentAt: T0 }], T0)).toBe(false);
  });

  it('are refused when it cannot be told how many there are', async () => {
    dynamo.on(UpdateCommand).rejectsOnce(sdkError('TimeoutError')).resolves({});

    expect(await repository().addUnapplied([{ lease: 'lease-1', sentAt: T0 }], T0)).toBe(false);
  });

  it('are removed by their leases', async () => {
    await repository().removeUnapplied(['lease-1', 'lease-2']);

    expect(updates()).toEqual([
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: 'REMOVE unapplied.#k0, unapplied.#k1',
        ConditionExpression: 'attribute_exists(unapplied)',
        ExpressionAttributeNames: { '#k0': 'lease-1', '#k1': 'lease-2' },
      },
    ]);
  });

  it('are left alone when none is to be removed', async () => {
    await repository().removeUnapplied([]);

    expect(updates()).toEqual([]);
  });
});

const WRITES: readonly (readonly [string, (feedback: FeedbackRepository) => Promise<unknown>, unknown])[] = [
  ['an unapplied event', (feedback) => feedback.addUnapplied([{ sentAt: T0 }], T0), false],
  ['a removal', (feedback) => feedback.removeUnapplied(['lease-1']), undefined],
  ['the watermark', (feedback) => feedback.moveWatermark(T0), undefined],
];

describe.each(WRITES)('trouble of the table with %s', (_name, write, answer) => {
  it.each([
    refused,
    sdkError('TimeoutError'),
    sdkError('InternalServerError', 500),
    sdkError('ProvisionedThroughputExceededException', 400),
    sdkError('TransactionConflictException', 400),
  ])('is an answer when it passes: $name', async (error) => {
    dynamo.on(UpdateCommand).rejects(error);

    expect(await write(repository())).toBe(answer);
  });

  it.each(['AccessDeniedException', 'ValidationException', 'ResourceNotFoundException'])(
    'fails when no repetition will cure it: %s',
    async (name) => {
      dynamo.on(UpdateCommand).rejects(sdkError(name, 400));

      await expect(write(repository())).rejects.toThrow(name);
    },
  );
});
