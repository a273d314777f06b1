import { BatchExecuteStatementCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import { isAllDone, retry, type RetryDeps } from '../../../domain/shared/retry.ts';

/** One PartiQL statement with a condition of its own. */
export interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** How one statement of a batch ended. `unanswered`: it may or may not have been carried out. */
export type StatementResult =
  | { readonly outcome: 'done'; readonly item: Record<string, unknown> | undefined }
  | { readonly outcome: 'condition-failed' }
  | { readonly outcome: 'exists' }
  /** It can never succeed: a fault of the item, the code or the deployment. DynamoDB's message may quote values, so the code alone is kept. */
  | { readonly outcome: 'rejected'; readonly code: string }
  | { readonly outcome: 'unanswered' };

/** DynamoDB's limit for BatchExecuteStatement. */
const STATEMENTS_PER_CALL = 25;
const RETRIES = { tries: 4, baseMs: 200 };

/** Codes of one statement that pass by themselves; the statement is repeated alone. */
const PASSING = new Set([
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'TransactionConflict',
  'InternalServerError',
]);

/** Carries out statements, 25 a call, each succeeding or failing for itself. */
export const executeAll = async (
  client: DynamoDBDocumentClient,
  statements: readonly Statement[],
  deps: RetryDeps,
): Promise<StatementResult[]> => {
  const results: (StatementResult | undefined)[] = statements.map(() => undefined);
  for (let from = 0; from < statements.length; from += STATEMENTS_PER_CALL) {
    let open = [...statements.entries()].slice(from, from + STATEMENTS_PER_CALL);
    await retry(deps, RETRIES, async () => {
      const answers = await execute(
        client,
        open.map(([, statement]) => statement),
      );
      for (const [n, [i]] of open.entries()) results[i] = answers[n];
      open = open.filter(([i]) => results[i] === undefined);
      return isAllDone(open);
    });
  }
  return results.map((result) => result ?? { outcome: 'unanswered' });
};

/** One call; undefined for a statement that may be repeated. */
const execute = async (
  client: DynamoDBDocumentClient,
  statements: readonly Statement[],
): Promise<(StatementResult | undefined)[]> => {
  try {
    const { Responses = [] } = await client.send(
      new BatchExecuteStatementCommand({
        Statements: statements.map(({ text, parameters }) => ({ Statement: text, Parameters: [...parameters] })),
      }),
    );
    return statements.map((_, i) => {
      const response = Responses[i];
      return response === undefined ? undefined : evaluate(response.Error?.Code, response.Item);
    });
  } catch (error) {
    if (isTransient(error)) return statements.map(() => undefined);
    throw error;
  }
};

const evaluate = (code: string | undefined, item: Record<string, unknown> | undefined): StatementResult | undefined => {
  if (code === undefined) return { outcome: 'done', item };
  if (code === 'ConditionalCheckFailed') return { outcome: 'condition-failed' };
  if (code === 'DuplicateItem') return { outcome: 'exists' };
  return PASSING.has(code) ? undefined : { outcome: 'rejected', code };
};

/** Whether an error came from an AWS client, which alone adds $metadata; any other is about our own data or a bug of ours. */
export const isAwsError = (error: unknown): error is Error & { readonly $metadata: Record<string, unknown> } =>
  error instanceof Error && '$metadata' in error && isRecord(error.$metadata);

/** Whether a failed call says nothing about the request itself: no answer, throttled, or trouble on the other side. */
export const isTransient = (error: unknown): boolean => {
  if (!isAwsError(error)) return false;
  const status = error.$metadata['httpStatusCode'];
  return typeof status !== 'number' || status >= 500 || PASSING_NAMES.has(error.name);
};

/** Names of throttling: of errors, and of reasons why a transaction was cancelled. */
const THROTTLED = new Set([
  'ThrottlingException',
  'ThrottlingError',
  'ProvisionedThroughputExceededException',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
]);

/** Whether the table takes less than it was asked for, be it for one item of a transaction only. */
export const isThrottling = (error: unknown): boolean => {
  if (!isAwsError(error)) return false;
  const reasons = 'CancellationReasons' in error && Array.isArray(error.CancellationReasons) ? error.CancellationReasons : [];
  return [error.name, ...reasons.map((reason: unknown) => (isRecord(reason) ? String(reason['Code']) : ''))].some((name) =>
    THROTTLED.has(name),
  );
};

const PASSING_NAMES = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
