import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { BatchExecuteStatementCommand, DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { stateAttributes, toStoredAttempt } from '../../../../../../lambda/adapters/dynamo/recipient/items.ts';
import { createRecipientRepository } from '../../../../../../lambda/adapters/dynamo/recipient/recipient-repository.ts';
import type { RecipientWrite } from '../../../../../../lambda/application/ports/recipients.ts';
import type { Attempt } from '../../../../../../lambda/domain/recipient/attempt.ts';
import type { Recipient } from '../../../../../../lambda/domain/recipient/recipient.ts';
import { aKey, anAttempt, cancelled, exhausted, pending, processing, sent, unknown } from '../../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError, sentStatements } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const repository = createRecipientRepository({
  clock: () => T0,
  client: documentClient(),
  tableName: 'mail',
  retentionDays: 180,
  random: Math.random,
  sleep: createFakeClock().sleep,
});

const lease = { token: 'ours', until: T0 + 300_000 };
const stored = (recipient: Recipient, attempts: readonly Attempt[] = []) => ({
  pk: 'DISPATCH#d1spatch#0',
  sk: 'RECIPIENT#a-1',
  email: 'kim@example.com',
  variables: '{"name":"Kim"}',
  ...stateAttributes(recipient),
  attempts: attempts.map(toStoredAttempt),
});
const answers = (...Responses: object[]) => dynamo.on(BatchExecuteStatementCommand).resolves({ Responses });
const conditionFailed = { Error: { Code: 'ConditionalCheckFailed' } };
const finds = (Item: Record<string, unknown> | undefined) => dynamo.on(GetCommand).resolves({ ...(Item && { Item }) });

beforeEach(() => {
  dynamo.reset();
});

describe('claiming', () => {
  const claim = (applyId = 'a-1') => ({ key: aKey(applyId), lease });
  const row = stored(processing(), []);
  const claimedRow = { ...row, attempts: [{ lease: 'ours', startedAt: '2026-03-02T09:00:00.000Z' }] };

  it('asks for one that is pending and due, and for the row in return', async () => {
    answers({ Item: claimedRow });

    await repository.claimAll([claim('지원자#1')], T0);

    expect(sentStatements(dynamo)).toEqual([
      [
        {
          text:
            `UPDATE "mail" SET "status"='PROCESSING', "leaseToken"=?, "leaseUntil"=?, "attemptCount"=attemptCount+1, ` +
            `"attempts"=list_append(attempts, ?) WHERE pk=? AND sk=? AND "status"='PENDING' AND nextAttemptAt<=? RETURNING ALL NEW *`,
          parameters: [
            'ours',
            '2026-03-02T09:05:00.000Z',
            [{ lease: 'ours', startedAt: '2026-03-02T09:00:00.000Z' }],
            'DISPATCH#d1spatch#0',
            'RECIPIENT#지원자#1',
            '2026-03-02T09:00:00.000Z',
          ],
        },
      ],
    ]);
  });

  it('gives the claimed row, with its attempt numbered', async () => {
    answers({ Item: claimedRow });

    expect(await repository.claimAll([claim()], T0)).toEqual([
      {
        outcome: 'claimed',
        claimed: {
          applyId: 'a-1',
          email: 'kim@example.com',
          variables: { name: 'Kim' },
          recipient: processing(),
          attempts: [anAttempt()],
          delivery: 'none',
          events: [],
        },
      },
    ]);
    expect(dynamo.commandCalls(GetCommand)).toHaveLength(0);
  });

  it('goes in calls of 25', async () => {
    dynamo.on(BatchExecuteStatementCommand).callsFake(({ Statements }: { Statements: object[] }) => ({
      Responses: Statements.map(() => ({ Item: claimedRow })),
    }));

    const results = await repository.claimAll(
      Array.from({ length: 30 }, (_, i) => claim(`a-${i}`)),
      T0,
    );

    expect(results).toHaveLength(30);
    expect(sentStatements(dynamo).map(({ length }) => length)).toEqual([25, 5]);
  });

  it('says what it found when the condition failed, by a consistent read', async () => {
    answers(conditionFailed);
    finds(stored(sent()));

    expect(await repository.claimAll([claim()], T0)).toMatchObject([{ outcome: 'refused', found: { recipient: sent() } }]);
    expect(dynamo.commandCalls(GetCommand).map(({ args }) => args[0].input)).toEqual([
      { TableName: 'mail', Key: { pk: 'DISPATCH#d1spatch#0', sk: 'RECIPIENT#a-1' }, ConsistentRead: true },
    ]);
  });

  it('counts as granted when the row holds our own token: the answer to the first try was lost (L7)', async () => {
    answers(conditionFailed);
    finds(claimedRow);

    expect(await repository.claimAll([claim()], T0)).toMatchObject([
      { outcome: 'claimed', claimed: { recipient: processing() } },
    ]);
  });

  it('is refused when another worker holds the row', async () => {
    answers(conditionFailed);
    finds(stored(processing({ lease: { token: 'theirs', until: T0 + 1 } })));

    expect(await repository.claimAll([claim()], T0)).toMatchObject([{ outcome: 'refused' }]);
  });

  it('is refused when the row is gone', async () => {
    answers(conditionFailed);
    finds(undefined);

    expect(await repository.claimAll([claim()], T0)).toEqual([{ outcome: 'refused', found: undefined }]);
  });

  it('counts as granted when no try was answered, and the row says that one was carried out', async () => {
    dynamo.on(BatchExecuteStatementCommand).rejects(sdkError('TimeoutError'));
    finds(claimedRow);

    expect(await repository.claimAll([claim()], T0)).toMatchObject([{ outcome: 'claimed' }]);
  });

  it('is open when no try was answered, whatever else the row says', async () => {
    dynamo.on(BatchExecuteStatementCommand).rejects(sdkError('TimeoutError'));
    finds(stored(pending()));

    expect(await repository.claimAll([claim()], T0)).toEqual([{ outcome: 'unavailable' }]);
  });

  it('is open when the look at the row fails too', async () => {
    answers(conditionFailed);
    dynamo.on(GetCommand).rejects(sdkError('InternalServerError', 500));

    expect(await repository.claimAll([claim()], T0)).toEqual([{ outcome: 'unavailable' }]);
  });

  it('calls a row broken that no version of this code wrote, and grants the others', async () => {
    answers({ Item: { ...claimedRow, attempts: 'none' } }, { Item: claimedRow }, { Error: { Code: 'ValidationError' } });

    const results = await repository.claimAll([claim('a-0'), claim('a-1'), claim('a-2')], T0);

    expect(results.map(({ outcome }) => outcome)).toEqual(['broken', 'claimed', 'broken']);
  });
});

describe('recording', () => {
  const write = (next: Recipient, attempt: Partial<Attempt>): RecipientWrite => ({
    key: aKey(),
    token: 'ours',
    next,
    attempts: [anAttempt(attempt)],
  });
  const sentWrite = write(sent(), { outcome: 'sent', messageId: 'ses-1', ms: 80 });
  const storedAttempt = { round: 1, n: 1, lease: 'ours', startedAt: '2026-03-02T09:00:00.000Z' };

  it.each<[string, RecipientWrite, string, unknown[]]>([
    [
      'a sent one, which expires',
      sentWrite,
      '"status"=?, "round"=?, "attemptCount"=?, "messageId"=?, "sentAt"=?, "attempts"=?, "expiresAt"=?',
      [
        'SENT',
        1,
        1,
        'ses-1',
        '2026-03-02T09:00:00.000Z',
        [{ ...storedAttempt, outcome: 'sent', messageId: 'ses-1', ms: 80 }],
        Date.parse('2026-08-29T09:00:00.000Z') / 1000,
      ],
    ],
    [
      'one to be tried again, which does not',
      write(pending({ attemptCount: 1, nextAttemptAt: T0 + 30_000, lastErrorCode: 'NOT_CONNECTED' }), {
        outcome: 'retry',
        code: 'NOT_CONNECTED',
      }),
      '"status"=?, "round"=?, "attemptCount"=?, "nextAttemptAt"=?, "lastErrorCode"=?, "attempts"=?',
      [
        'PENDING',
        1,
        1,
        '2026-03-02T09:00:30.000Z',
        'NOT_CONNECTED',
        [{ ...storedAttempt, outcome: 'retry', code: 'NOT_CONNECTED' }],
      ],
    ],
    [
      'used-up attempts, with the message in hand (Q4)',
      write(exhausted(), { outcome: 'retry', code: 'NOT_CONNECTED' }),
      '"status"=?, "round"=?, "attemptCount"=?, "lastErrorCode"=?, "failedAt"=?, "deadMessage"=?, "attempts"=?, "expiresAt"=?',
      [
        'FAILED',
        1,
        7,
        'ATTEMPTS_EXHAUSTED',
        '2026-03-02T09:00:00.000Z',
        { id: 'm-1', sentAt: '2026-03-02T09:00:00.000Z' },
        [{ ...storedAttempt, outcome: 'retry', code: 'NOT_CONNECTED' }],
        Date.parse('2026-08-29T09:00:00.000Z') / 1000,
      ],
    ],
    [
      'one of which nobody knows, which expires',
      write(unknown(), { outcome: 'unclear' }),
      '"status"=?, "round"=?, "attemptCount"=?, "lastErrorCode"=?, "failedAt"=?, "attempts"=?, "expiresAt"=?',
      [
        'UNKNOWN',
        1,
        1,
        'OUTCOME_UNCLEAR',
        '2026-03-02T09:00:00.000Z',
        [{ ...storedAttempt, outcome: 'unclear' }],
        Date.parse('2026-08-29T09:00:00.000Z') / 1000,
      ],
    ],
    [
      'a cancelled one, which expires',
      write(cancelled, { outcome: 'unsent' }),
      '"status"=?, "round"=?, "attemptCount"=?, "cancelledAt"=?, "attempts"=?, "expiresAt"=?',
      [
        'CANCELLED',
        1,
        0,
        '2026-03-02T09:00:00.000Z',
        [{ ...storedAttempt, outcome: 'unsent' }],
        Date.parse('2026-08-29T09:00:00.000Z') / 1000,
      ],
    ],
    [
      'a longer lease',
      write(processing({ lease: { token: 'ours', until: T0 + 600_000 } }), { outcome: 'unclear' }),
      '"status"=?, "round"=?, "attemptCount"=?, "leaseToken"=?, "leaseUntil"=?, "attempts"=?',
      ['PROCESSING', 1, 1, 'ours', '2026-03-02T09:10:00.000Z', [{ ...storedAttempt, outcome: 'unclear' }]],
    ],
  ])('writes %s, as long as our lease stands', async (_name, recipientWrite, set, values) => {
    answers({});

    expect(await repository.writeAll([recipientWrite])).toEqual(['written']);
    expect(sentStatements(dynamo)).toEqual([
      [
        {
          text: `UPDATE "mail" SET ${set} WHERE pk=? AND sk=? AND "status"='PROCESSING' AND leaseToken=?`,
          parameters: [...values, 'DISPATCH#d1spatch#0', 'RECIPIENT#a-1', 'ours'],
        },
      ],
    ]);
  });

  it('counts as written when the row holds the result already: the answer was lost', async () => {
    answers(conditionFailed);
    finds(stored(sent(), [anAttempt({ outcome: 'sent', messageId: 'ses-1', ms: 80 })]));

    expect(await repository.writeAll([sentWrite])).toEqual(['written']);
  });

  it.each<[string, Record<string, unknown> | undefined]>([
    [
      'another worker took over',
      stored(processing({ lease: { token: 'theirs', until: T0 } }), [anAttempt(), anAttempt({ lease: 'theirs' })]),
    ],
    ['our attempt was resolved otherwise', stored(unknown(), [anAttempt({ outcome: 'unclear' })])],
    ['the row is gone', undefined],
  ])('changes nothing when %s (L6)', async (_name, item) => {
    answers(conditionFailed);
    finds(item);

    expect(await repository.writeAll([sentWrite])).toEqual(['conflict']);
  });

  it('changes nothing when neither the row nor the write knows of our attempt', async () => {
    answers(conditionFailed);
    finds(stored(unknown(), [anAttempt({ lease: 'theirs', outcome: 'unclear' })]));

    expect(await repository.writeAll([{ ...sentWrite, attempts: [] }])).toEqual(['conflict']);
  });

  it('is open when no try was answered', async () => {
    dynamo.on(BatchExecuteStatementCommand).rejects(sdkError('TimeoutError'));

    expect(await repository.writeAll([sentWrite])).toEqual(['unavailable']);
  });

  it('tells the outcomes apart, in the order asked', async () => {
    answers({}, conditionFailed, {});
    finds(undefined);

    expect(await repository.writeAll([sentWrite, sentWrite, sentWrite])).toEqual(['written', 'conflict', 'written']);
  });
});

describe('cancelling', () => {
  it('asks for one that is pending, and lets it expire', async () => {
    dynamo.on(UpdateCommand).resolves({});

    expect(await repository.cancel(aKey(), T0)).toBe('written');

    expect(dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input)).toEqual([
      {
        TableName: 'mail',
        Key: { pk: 'DISPATCH#d1spatch#0', sk: 'RECIPIENT#a-1' },
        UpdateExpression: 'SET #status = :status, #cancelledAt = :cancelledAt, #expiresAt = :expiresAt',
        ConditionExpression: '#status = :was_status',
        ExpressionAttributeNames: { '#status': 'status', '#cancelledAt': 'cancelledAt', '#expiresAt': 'expiresAt' },
        ExpressionAttributeValues: {
          ':status': 'CANCELLED',
          ':cancelledAt': '2026-03-02T09:00:00.000Z',
          ':expiresAt': Date.parse('2026-08-29T09:00:00.000Z') / 1000,
          ':was_status': 'PENDING',
        },
      },
    ]);
  });

  it.each<[string, Error, string]>([
    ['is lost when it is pending no more', new ConditionalCheckFailedException({ message: 'no', $metadata: {} }), 'conflict'],
    ['is open when no answer came', sdkError('TimeoutError'), 'unavailable'],
    ['is open when a transaction is under way', sdkError('TransactionConflictException', 400), 'unavailable'],
  ])('%s', async (_name, error, expected) => {
    dynamo.on(UpdateCommand).rejects(error);

    expect(await repository.cancel(aKey(), T0)).toBe(expected);
  });

  it('fails on what no repetition will cure', async () => {
    dynamo.on(UpdateCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(repository.cancel(aKey(), T0)).rejects.toThrow('AccessDeniedException');
  });
});
