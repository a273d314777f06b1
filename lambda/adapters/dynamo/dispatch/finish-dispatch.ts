import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

import type { SweepState } from '../../../application/ports/progress.ts';
import { type Dispatch, needsAttention, outcomeOf, type RowCounts } from '../../../domain/dispatch/dispatch.ts';
import { expiryAfter, type Instant, toIso } from '../../../domain/shared/instant.ts';
import { ATTENTION, contentKey, dispatchKey, OPEN } from '../client/keys.ts';
import { type Attributes, updateOf } from '../client/update.ts';

export interface FinishDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** How long the content of a finished dispatch is kept. */
  readonly retentionDays: number;
}

/**
 * Stores what a dispatch came to, unless a row was reopened or changed since the dispatch was read: that has raised the
 * generation. @returns whether it stands
 */
export const completeDispatch = async (deps: FinishDeps, dispatch: Dispatch, rows: RowCounts, now: Instant): Promise<boolean> => {
  const { dispatchId, generation } = dispatch;
  const at = toIso(now);
  const end = { status: 'COMPLETED', completedAt: at, lastProgressAt: at, outcome: outcomeOf(rows.counts) };
  const set = { ...end, ...resultOf(rows), ...frozenOf(rows, dispatch), openKey: OPEN };
  const update = updateOf(deps.tableName, dispatchKey(dispatchId), set, { generation });
  return writeWithContent(deps, dispatchId, now, {
    ...update,
    ConditionExpression: `${update.ConditionExpression} AND #status IN (:accepted, :inProgress)`,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':accepted': 'ACCEPTED', ':inProgress': 'IN_PROGRESS' },
  });
};

/** Rows that have expired by a later look are counted by these. Each end replaces those of the end before. */
const frozenOf = ({ counts }: RowCounts, { generation }: Dispatch): Attributes => ({
  frozenCounts: counts,
  frozenGeneration: generation,
});

/** Stores what a cancelled dispatch came to: none of its rows is open any more. @returns whether it stands */
export const finishCancelled = (deps: FinishDeps, dispatch: Dispatch, rows: RowCounts, now: Instant): Promise<boolean> => {
  const { dispatchId, generation } = dispatch;
  const end = { ...resultOf(rows), ...frozenOf(rows, dispatch), lastProgressAt: toIso(now), openKey: OPEN };
  const update = updateOf(deps.tableName, dispatchKey(dispatchId), end, { generation, status: 'CANCELLED' });
  return writeWithContent(deps, dispatchId, now, update);
};

/** Stores what a finished dispatch comes to now, unless anything happened since it was read. @returns whether it stands */
export const settleDispatch = (
  deps: FinishDeps,
  { dispatchId, generation, status, tasks, ...dispatch }: Dispatch & SweepState,
  rows: RowCounts,
  sweptAt: Instant,
  isLast: boolean,
): Promise<boolean> => {
  const result = resultOf(rows);
  const set = {
    ...(status === 'COMPLETED' && { outcome: outcomeOf(rows.counts) }),
    ...result,
    ...visitOf({ generation, tasks }, sweptAt),
    // Operators find there what somebody should look at.
    ...(isLast && { openKey: result.needsAttention ? ATTENTION : undefined }),
  };
  // A task that was begun meanwhile is looked for among the open ones.
  const as = { generation, status, tasks, ...asCounted(dispatch) };
  return write(deps, updateOf(deps.tableName, dispatchKey(dispatchId), set, as));
};

/** What a visit leaves: with another generation or a new task there is more to see. */
export const visitOf = (
  { generation, tasks }: { readonly generation: number; readonly tasks?: number | undefined },
  at: Instant,
): Attributes => ({
  sweptAt: toIso(at),
  sweptGeneration: generation,
  sweptTasks: tasks,
});

const resultOf = ({ counts, deliveries }: RowCounts) => ({
  needsAttention: needsAttention(counts, deliveries),
  counts,
  deliveries,
});

/** As it was counted when it was read. */
export const asCounted = ({ countsVersion }: Pick<Dispatch, 'countsVersion'>): Attributes => ({ countsVersion });

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
