import { BatchExecuteStatementCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { executeAll, isTransient, type Statement } from '../../../../../../lambda/adapters/dynamo/recipient/statements.ts';
import { createFakeClock, type FakeClock } from '../../../../../support/clock.ts';
import { documentClient, sdkError, sentStatements } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const statements = (n: number): Statement[] => Array.from({ length: n }, (_, i) => ({ text: `S${i}`, parameters: [i] }));
const ok = { Item: { done: true } };
const refusedWith = (Code: 'ConditionalCheckFailed' | 'DuplicateItem' | 'ThrottlingError' | 'ValidationError') => ({
  Error: { Code, Message: 'about kim@example.com' },
});

let clock: FakeClock;
const execute = (all: readonly Statement[]) => executeAll(documentClient(), all, { random: Math.random, sleep: clock.sleep });

beforeEach(() => {
  dynamo.reset();
  clock = createFakeClock();
});

describe('statements', () => {
  it('go 25 a call, and answers come in the order asked', async () => {
    dynamo.on(BatchExecuteStatementCommand).callsFake(({ Statements }: { Statements: { Parameters: number[] }[] }) => ({
      Responses: Statements.map(({ Parameters: [i] }) => ({ Item: { i } })),
    }));

    const results = await execute(statements(60));

    expect(sentStatements(dynamo).map(({ length }) => length)).toEqual([25, 25, 10]);
    expect(results).toEqual(statements(60).map((_, i) => ({ outcome: 'done', item: { i } })));
  });

  it('are nothing to send when there are none', async () => {
    expect(await execute([])).toEqual([]);
    expect(sentStatements(dynamo)).toEqual([]);
  });

  it('each succeed or fail for themselves', async () => {
    dynamo.on(BatchExecuteStatementCommand).resolves({
      Responses: [ok, refusedWith('ConditionalCheckFailed'), refusedWith('DuplicateItem'), refusedWith('ValidationError')],
    });

    expect(await execute(statements(4))).toEqual([
      { outcome: 'done', item: { done: true } },
      { outcome: 'condition-failed' },
      { outcome: 'exists' },
      { outcome: 'rejected', code: 'ValidationError' },
    ]);
    expect(sentStatements(dynamo)).toHaveLength(1);
  });

  it('that were throttled are repeated alone, later', async () => {
    dynamo
      .on(BatchExecuteStatementCommand)
      .resolvesOnce({ Responses: [ok, refusedWith('ThrottlingError'), ok] })
      .resolves({ Responses: [ok] });

    const results = await execute(statements(3));

    expect(results.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
    expect(sentStatements(dynamo).map((batch) => batch.map(({ text }) => text))).toEqual([['S0', 'S1', 'S2'], ['S1']]);
    expect(clock.slept).toHaveLength(1);
  });

  it('that no call answers are left open after four tries', async () => {
    dynamo.on(BatchExecuteStatementCommand).rejects(sdkError('TimeoutError'));

    expect(await execute(statements(2))).toEqual([{ outcome: 'unanswered' }, { outcome: 'unanswered' }]);
    expect(sentStatements(dynamo)).toHaveLength(4);
  });

  it('are not repeated for ever when throttling does not end', async () => {
    dynamo.on(BatchExecuteStatementCommand).resolves({ Responses: [refusedWith('ThrottlingError')] });

    expect(await execute(statements(1))).toEqual([{ outcome: 'unanswered' }]);
    expect(sentStatements(dynamo)).toHaveLength(4);
  });

  it('fail as a whole when the call itself is refused for good', async () => {
    dynamo.on(BatchExecuteStatementCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(execute(statements(1))).rejects.toThrow('AccessDeniedException');
    expect(sentStatements(dynamo)).toHaveLength(1);
  });
});

describe('an error passes by itself', () => {
  it.each<[string, unknown, boolean]>([
    ['when no answer came', sdkError('TimeoutError'), true],
    ['when the other side is in trouble', sdkError('InternalServerError', 500), true],
    ['when a request was throttled', sdkError('ThrottlingException', 400), true],
    ['when throughput was exceeded', sdkError('ProvisionedThroughputExceededException', 400), true],
    ['when transactions collide', sdkError('TransactionConflictException', 400), true],
    ['but not when permission is missing', sdkError('AccessDeniedException', 400), false],
    ['but not when the request is invalid', sdkError('ValidationException', 400), false],
    ['but not when it is a bug of ours', new TypeError('undefined is not a function'), false],
    ['but not when it is no error', 'text', false],
  ])('%s', (_name, error, expected) => {
    expect(isTransient(error)).toBe(expected);
  });
});
