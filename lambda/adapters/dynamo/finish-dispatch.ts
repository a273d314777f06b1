import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

import { type Counts, type Deliveries, type Dispatch, needsAttention, outcomeOf, type RowCounts } from '../../domain/dispatch.ts';
import { expiryAfter, type Instant, toIso } from '../../domain/instant.ts';
import { ATTENTION, contentKey, dispatchKey, OPEN } from './keys.ts';
import { type Attributes, updateOf } from './update.ts';

export interface FinishDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** How long the content of a finished dispatch is kept. */
  readonly retentionDays: number;
}

/**
 * Stores what a dispatch came to, unless a row was reopened or changed since the dispatch was read: that has raised the
 * generation. One that was completed already keeps its time, and is left as it is if progress counted meanwhile.
 * @returns whether it stands
 */
export const completeDispatch = async (deps: FinishDeps, dispatch: Dispatch, rows: RowCounts, now: Instant): Promise<boolean> => {
  const { dispatchId, generation } = dispatch;
  const key = dispatchKey(dispatchId);
  const set = { outcome: outcomeOf(rows.counts), ...resultOf(rows) };
  if (dispatch.status === 'COMPLETED') {
    return write(deps, updateOf(deps.tableName, key, set, { generation, status: 'COMPLETED', ...asCounted(dispatch) }));
  }
  const at = toIso(now);
  const first = { status: 'COMPLETED', completedAt: at, lastProgressAt: at, ...set };
  return finish(deps, dispatch, now, (more, as) => {
    const update = updateOf(deps.tableName, key, { ...first, ...more }, { generation, ...as });
    return {
      ...update,
      ConditionExpression: `${update.ConditionExpression} AND #status IN (:accepted, :inProgress)`,
      ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':accepted': 'ACCEPTED', ':inProgress': 'IN_PROGRESS' },
    };
  });
};

/** Stores what a cancelled dispatch came to: none of its rows is open any more. @returns whether it stands */
export const closeDispatch = (deps: FinishDeps, dispatch: Dispatch, rows: RowCounts, now: Instant): Promise<boolean> => {
  const { dispatchId, generation } = dispatch;
  const set = { ...resultOf(rows), lastProgressAt: toIso(now) };
  return finish(deps, dispatch, now, (more, as) =>
    updateOf(deps.tableName, dispatchKey(dispatchId), { ...set, ...more }, { generation, status: 'CANCELLED', ...as }),
  );
};

const resultOf = ({ counts, deliveries }: RowCounts) => ({
  needsAttention: needsAttention(counts, deliveries),
  counts,
  deliveries,
  openKey: afterwards(counts, deliveries),
});

/** Operators find there what somebody should look at. */
const afterwards = (counts: Counts, deliveries: Deliveries): typeof ATTENTION | undefined =>
  needsAttention(counts, deliveries) ? ATTENTION : undefined;

/** As it was counted when it was read: progress leaves its time whenever it adds something. */
export const asCounted = ({ countedAt }: Dispatch): Attributes => ({
  countedAt: countedAt === undefined ? undefined : toIso(countedAt),
});

type Update = ReturnType<typeof updateOf>;

/** If progress counted since the dispatch was read, that may be newer than the rows: then the sweeper counts them once more. */
const finish = async (
  deps: FinishDeps,
  dispatch: Dispatch,
  now: Instant,
  updateWith: (more: Attributes, as: Attributes) => Update,
): Promise<boolean> =>
  (await writeWithContent(deps, dispatch.dispatchId, now, updateWith({}, asCounted(dispatch)))) ||
  (await writeWithContent(deps, dispatch.dispatchId, now, updateWith({ openKey: OPEN }, {})));

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
