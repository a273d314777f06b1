import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createWitnessRepository } from '../../../../../lambda/adapters/dynamo/witness-repository.ts';
import type { WitnessRepository } from '../../../../../lambda/application/ports.ts';
import { T0 } from '../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const repository = () => createWitnessRepository(documentClient(), 'mail');
const KEY = { pk: 'CONTROL', sk: 'FEEDBACK' };
const AT_T0 = '2026-03-02T09:00:00.000Z';
const DAY_MS = 86_400_000;

const updates = () => dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input);
const refused = new ConditionalCheckFailedException({ message: 'no', $metadata: { httpStatusCode: 400 } });

beforeEach(() => {
  dynamo.reset();
  dynamo.on(UpdateCommand).resolves({});
});

describe('what the witness says', () => {
  it('is read consistently, in one go', async () => {
    dynamo.on(GetCommand, { TableName: 'mail', Key: KEY, ConsistentRead: true }).resolves({
      Item: {
        ...KEY,
        mark: '2026-03-02T09:01:00.000Z',
        holds: { 'lease-1': AT_T0, '-2026-03-02T09:00:00.000Z': AT_T0 },
        canaries: [AT_T0],
        canaryBookedAt: AT_T0,
      },
    });

    expect(await repository().read()).toEqual({
      mark: T0 + 60_000,
      holds: [{ lease: 'lease-1', sentAt: T0 }, { sentAt: T0 }],
      canaries: [T0],
    });
  });

  it.each<[string, Record<string, unknown> | undefined]>([
    ['there is no item', undefined],
    ['the item has only a booking', { ...KEY, canaryBookedAt: AT_T0 }],
  ])('is nothing while %s', async (_name, Item) => {
    dynamo.on(GetCommand).resolves(Item === undefined ? {} : { Item });

    expect(await repository().read()).toEqual({ holds: [], canaries: [] });
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
    dynamo.on(GetCommand).resolves({ Item: { ...KEY, mark: 'yesterday' } });

    expect(await repository().read()).toBe('unavailable');
  });
});

describe('the next canary', () => {
  it('may be sent by the one who books it, a minute after the last booking', async () => {
    expect(await repository().bookCanary(T0, 60)).toBe(true);

    expect(updates()).toEqual([
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: 'SET canaryBookedAt = :now',
        ConditionExpression: 'attribute_not_exists(canaryBookedAt) OR canaryBookedAt <= :latest',
        ExpressionAttributeValues: { ':now': AT_T0, ':latest': '2026-03-02T08:59:00.000Z' },
      },
    ]);
  });

  it('is remembered with those before it', async () => {
    await repository().recordCanaries([T0, T0 + 1]);

    expect(updates()).toEqual([
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: 'SET canaries = :canaries',
        ExpressionAttributeValues: { ':canaries': [AT_T0, '2026-03-02T09:00:00.001Z'] },
      },
    ]);
  });
});

describe('the mark', () => {
  it('moves on, never back', async () => {
    await repository().moveMark(T0);

    expect(updates()).toEqual([
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: 'SET mark = :to',
        ConditionExpression: 'attribute_not_exists(mark) OR mark < :to',
        ExpressionAttributeValues: { ':to': AT_T0 },
      },
    ]);
  });
});

/** Answers the write that opens the map with the holds that are in it. */
const holding = (holds: Record<string, string>) =>
  dynamo.on(UpdateCommand, { ReturnValues: 'ALL_NEW' }).resolves({ Attributes: { ...KEY, holds } });

describe('holds', () => {
  it('are added to a map that is there, within its room', async () => {
    holding({});

    expect(await repository().hold([{ lease: 'lease-1', sentAt: T0 }, { sentAt: T0 + 1 }], T0)).toBe(true);

    expect(updates()).toEqual([
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: 'SET holds = if_not_exists(holds, :none)',
        ExpressionAttributeValues: { ':none': {} },
        ReturnValues: 'ALL_NEW',
      },
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: 'SET holds.#k0 = :t0, holds.#k1 = :t1',
        ConditionExpression: 'size(holds) <= :room',
        ExpressionAttributeNames: { '#k0': 'lease-1', '#k1': '-2026-03-02T09:00:00.001Z' },
        ExpressionAttributeValues: { ':t0': AT_T0, ':t1': '2026-03-02T09:00:00.001Z', ':room': 298 },
      },
    ]);
  });

  it('that are there already need no room', async () => {
    holding({ 'lease-1': AT_T0 });

    await repository().hold([{ lease: 'lease-1', sentAt: T0 }], T0);

    expect(updates().at(-1)?.ExpressionAttributeValues).toMatchObject({ ':room': 300 });
  });

  it('about one attempt are one hold', async () => {
    holding({});

    await repository().hold(
      [
        { lease: 'lease-1', sentAt: T0 },
        { lease: 'lease-1', sentAt: T0 },
      ],
      T0,
    );

    expect(updates().at(-1)?.UpdateExpression).toBe('SET holds.#k0 = :t0');
  });

  it('whose names are words of JavaScript need room as others do', async () => {
    holding({});

    await repository().hold([{ lease: 'constructor', sentAt: T0 }], T0);

    expect(updates().at(-1)?.ExpressionAttributeValues).toMatchObject({ ':room': 299 });
  });

  it('older than 14 days make way', async () => {
    holding({ old: '2026-02-16T08:59:59.999Z', young: '2026-02-16T09:00:00.000Z' });

    await repository().hold([{ lease: 'lease-1', sentAt: T0 }], T0);

    expect(updates()[1]).toEqual({
      TableName: 'mail',
      Key: KEY,
      UpdateExpression: 'REMOVE holds.#k0',
      ConditionExpression: 'attribute_exists(holds)',
      ExpressionAttributeNames: { '#k0': 'old' },
    });
    expect(updates()).toHaveLength(3);
  });

  it('make way a hundred at a time, as an expression must stay short', async () => {
    const old = new Date(T0 - 15 * DAY_MS).toISOString();
    holding(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`l-${i}`, old])));

    await repository().hold([{ lease: 'lease-1', sentAt: T0 }], T0);

    expect(Object.keys(updates()[1]?.ExpressionAttributeNames ?? {})).toHaveLength(100);
  });

  it('are refused when there is no room', async () => {
    dynamo
      .on(UpdateCommand)
      .resolvesOnce({ Attributes: { ...KEY, holds: {} } })
      .rejects(refused);

    expect(await repository().hold([{ lease: 'lease-1', sentAt: T0 }], T0)).toBe(false);
  });

  it('are refused when it cannot be told how many there are', async () => {
    dynamo.on(UpdateCommand).rejectsOnce(sdkError('TimeoutError')).resolves({});

    expect(await repository().hold([{ lease: 'lease-1', sentAt: T0 }], T0)).toBe(false);
  });

  it('are released by their leases', async () => {
    await repository().release(['lease-1', 'lease-2']);

    expect(updates()).toEqual([
      {
        TableName: 'mail',
        Key: KEY,
        UpdateExpression: 'REMOVE holds.#k0, holds.#k1',
        ConditionExpression: 'attribute_exists(holds)',
        ExpressionAttributeNames: { '#k0': 'lease-1', '#k1': 'lease-2' },
      },
    ]);
  });

  it('are left alone when none is to be released', async () => {
    await repository().release([]);

    expect(updates()).toEqual([]);
  });
});

const WRITES: readonly (readonly [string, (witness: WitnessRepository) => Promise<unknown>, unknown])[] = [
  ['the booking of a canary', (witness) => witness.bookCanary(T0, 60), false],
  ['the memory of canaries', (witness) => witness.recordCanaries([T0]), undefined],
  ['a hold', (witness) => witness.hold([{ sentAt: T0 }], T0), false],
  ['a release', (witness) => witness.release(['lease-1']), undefined],
  ['the mark', (witness) => witness.moveMark(T0), undefined],
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
