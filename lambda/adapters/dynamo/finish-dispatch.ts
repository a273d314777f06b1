import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

import { type Counts, type Dispatch, needsAttention, outcomeOf } from '../../domain/dispatch.ts';
import { expiryAfter, type Instant, toIso } from '../../domain/instant.ts';
import { ATTENTION, contentKey, dispatchKey } from './keys.ts';
import { updateOf } from './update.ts';

export interface FinishDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** How long the content of a finished dispatch is kept. */
  readonly retentionDays: number;
}

/**
 * Stores what a dispatch came to, unless a row was reopened or changed since the dispatch was read: that has raised the
 * generation. One that was completed already keeps its time. @returns whether it stands
 */
export const completeDispatch = async (deps: FinishDeps, dispatch: Dispatch, counts: Counts, now: Instant): Promise<boolean> => {
  const { dispatchId, generation } = dispatch;
  const key = dispatchKey(dispatchId);
  const set = { outcome: outcomeOf(counts), needsAttention: needsAttention(counts), counts, openKey: afterwards(counts) };
  if (dispatch.status === 'COMPLETED') {
    return write(deps, updateOf(deps.tableName, key, set, { generation, status: 'COMPLETED' }));
  }
  const at = toIso(now);
  const update = updateOf(
    deps.tableName,
    key,
    { status: 'COMPLETED', completedAt: at, lastProgressAt: at, ...set },
    { generation },
  );
  return writeWithContent(deps, dispatchId, now, {
    ...update,
    ConditionExpression: `${update.ConditionExpression} AND #status IN (:accepted, :inProgress)`,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':accepted': 'ACCEPTED', ':inProgress': 'IN_PROGRESS' },
  });
};

/** Stores what a cancelled dispatch came to: none of its rows is open any more. @returns whether it stands */
export const closeDispatch = (
  deps: FinishDeps,
  { dispatchId, generation }: Dispatch,
  counts: Counts,
  now: Instant,
): Promise<boolean> => {
  const set = { counts, needsAttention: needsAttention(counts), lastProgressAt: toIso(now), openKey: afterwards(counts) };
  const update = updateOf(deps.tableName, dispatchKey(dispatchId), set, { generation, status: 'CANCELLED' });
  return writeWithContent(deps, dispatchId, now, update);
};

/** Operators find there what somebody should look at. */
const afterwards = (counts: Counts): typeof ATTENTION | undefined => (needsAttention(counts) ? ATTENTION : undefined);

type Update = ReturnType<typeof updateOf>;

/** Changed by somebody else meanwhile: the next pass looks again. */
const write = async ({ client }: FinishDeps, update: Update): Promise<boolean> => {
  try {
    await client.send(new UpdateCommand(update));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

const FAILED = 'ConditionalCheckFailed';

const writeWithContent = async (deps: FinishDeps, dispatchId: string, now: Instant, update: Update): Promise<boolean> => {
  const content = {
    TableName: deps.tableName,
    Key: contentKey(dispatchId),
    // A second look at a finished dispatch does not make its content live longer.
    UpdateExpression: 'SET expiresAt = if_not_exists(expiresAt, :expiry)',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':expiry': expiryAfter(now, deps.retentionDays) },
  };
  try {
    await deps.client.send(new TransactWriteCommand({ TransactItems: [{ Update: update }, { Update: content }] }));
    return true;
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    const [ofDispatch, ofContent] = (error.CancellationReasons ?? []).map(({ Code }) => Code);
    // Content that has expired already must not keep its dispatch open for ever.
    return ofDispatch !== FAILED && ofContent === FAILED ? write(deps, update) : false;
  }
};
