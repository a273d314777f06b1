import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import { Unavailable } from '../../../application/ports/errors.ts';
import type { CountedDispatch, ProgressRepository } from '../../../application/ports/progress.ts';
import type { Random, Sleep } from '../../../application/ports/system.ts';
import { TASK_PREFIX } from '../../../contracts/table-keys.ts';
import type { RowCounts } from '../../../domain/dispatch/dispatch.ts';
import { changesCounts, changesDeliveries, NO_CHANGE } from '../../../domain/dispatch/progress.ts';
import { type Instant, toIso } from '../../../domain/shared/instant.ts';
import { retry } from '../../../domain/shared/retry.ts';
import { dispatchKey, OPEN } from '../client/keys.ts';
import { pendingItems } from '../client/pending-items.ts';
import { updateOf } from '../client/update.ts';
import { DispatchItem } from '../recipient/items.ts';
import { isAwsError, isTransient } from '../recipient/statements.ts';
import { createEndingRepository } from './ending-repository.ts';
import type { FinishDeps } from './finish-dispatch.ts';

export interface ProgressRepositoryDeps extends FinishDeps {
  readonly random: Random;
  readonly sleep: Sleep;
}

/** A task that is not done and reopens recipients. */
const Reopening = z.object({ kind: z.enum(['retry', 'resume']), state: z.literal('open') });

/** Dispatches as progress counts them. */
export const createProgressRepository = (deps: ProgressRepositoryDeps): ProgressRepository => ({
  ...createEndingRepository(deps),

  async add(dispatchId, delta, now) {
    const added = await write(deps, addition(deps.tableName, dispatchId, delta, now));
    if (added !== undefined) return toCounted(added);
    if (!changesDeliveries(delta)) return undefined;
    const late = await write(deps, lateAddition(deps.tableName, dispatchId, delta, now));
    // One of before there were deliveries has none to add to, but its rows have them.
    if (late === undefined) await write(deps, lateAddition(deps.tableName, dispatchId, NO_CHANGE, now));
    return undefined;
  },

  async begin(dispatchId) {
    const update = updateOf(deps.tableName, dispatchKey(dispatchId), { status: 'IN_PROGRESS' }, { status: 'ACCEPTED' });
    try {
      await deps.client.send(new UpdateCommand(update));
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },

  async isReopening(dispatchId) {
    const tasks = await pendingItems(deps, dispatchId, TASK_PREFIX);
    return tasks.some((item) => Reopening.safeParse(item).success);
  },

  async find(dispatchId) {
    const { Item } = await deps.client.send(
      new GetCommand({ TableName: deps.tableName, Key: dispatchKey(dispatchId), ConsistentRead: true }),
    );
    return Item && DispatchItem.parse(Item);
  },
});

/** To a dispatch whose counts are still kept: it may be stopped, or cancelled with rows under way. */
const addition = (TableName: string, dispatchId: string, delta: RowCounts, now: Instant) => {
  const terms = [...toTerms('counts', delta.counts), ...toTerms('deliveries', delta.deliveries)];
  return toUpdate(TableName, dispatchId, terms, {
    // Late news of mails must not hide that a recipient is stuck.
    set: changesCounts(delta) ? ['lastProgressAt = :now'] : [],
    condition: '#status IN (:accepted, :inProgress, :stopped) OR (#status = :cancelled AND attribute_not_exists(needsAttention))',
    values: {
      ':now': toIso(now),
      ':accepted': 'ACCEPTED',
      ':inProgress': 'IN_PROGRESS',
      ':stopped': 'STOPPED',
      ':cancelled': 'CANCELLED',
    },
  });
};

/**
 * To one that was counted at its end: its states are exact, and what the stream still tells of them is in them already.
 * Deliveries may be in them or not, so the sweeper counts it once more.
 */
const lateAddition = (TableName: string, dispatchId: string, { deliveries }: RowCounts, now: Instant) =>
  toUpdate(TableName, dispatchId, toTerms('deliveries', deliveries), {
    set: ['openKey = :open'],
    condition: '#status = :completed OR (#status = :cancelled AND attribute_exists(needsAttention))',
    values: { ':now': toIso(now), ':open': OPEN, ':completed': 'COMPLETED', ':cancelled': 'CANCELLED' },
  });

interface Term {
  readonly map: 'counts' | 'deliveries';
  readonly name: string;
  readonly by: number;
}

const toTerms = (map: Term['map'], numbers: Readonly<Record<string, number>>): Term[] =>
  Object.entries(numbers).flatMap(([name, by]) => (by === 0 ? [] : [{ map, name, by }]));

/** A placeholder of an expression takes no hyphens. */
const placeholder = ({ name }: Pick<Term, 'name'>): string => name.replaceAll('-', '_');

/** A state that the item does not know yet must not keep its dispatch from being counted. */
const toAdded = (term: Term): string => {
  const path = `#${term.map}.#${placeholder(term)}`;
  return `${path} = if_not_exists(${path}, :zero) + :${placeholder(term)}`;
};

/** When something was added, and a number that says so even if another clock tells the same time. */
const COUNTED = ['countedAt = :now', 'countsVersion = if_not_exists(countsVersion, :zero) + :step'] as const;

const HAS_BOTH = ['attribute_exists(#counts)', 'attribute_exists(#deliveries)'] as const;

const toUpdate = (
  TableName: string,
  dispatchId: string,
  terms: readonly Term[],
  more: { readonly set: readonly string[]; readonly condition: string; readonly values: Readonly<Record<string, string>> },
) => ({
  TableName,
  Key: dispatchKey(dispatchId),
  UpdateExpression: `SET ${[...terms.map(toAdded), ...COUNTED, ...more.set].join(', ')}`,
  // A dispatch without both has none until the sweeper counts it.
  ConditionExpression: [...(terms.length > 0 ? HAS_BOTH : []), `(${more.condition})`].join(' AND '),
  ExpressionAttributeNames: {
    '#status': 'status',
    ...(terms.length > 0 && { '#counts': 'counts', '#deliveries': 'deliveries' }),
    ...Object.fromEntries(terms.map((term) => [`#${placeholder(term)}`, term.name])),
  },
  ExpressionAttributeValues: {
    ...more.values,
    ':zero': 0,
    ':step': 1,
    ...Object.fromEntries(terms.map((term) => [`:${placeholder(term)}`, term.by])),
  },
  ReturnValues: 'ALL_NEW' as const,
});

const RETRIES = { tries: 6, baseMs: 100 };
const RETRY_AFTER_SECONDS = 1;

/**
 * What passes is tried again, as records that come again are counted again. A task may write the dispatch time after time, so
 * the tries are spread.
 * @returns the item afterwards; undefined: the condition does not hold
 */
const write = async (
  deps: ProgressRepositoryDeps,
  update: ReturnType<typeof toUpdate>,
): Promise<Record<string, unknown> | undefined> => {
  const written = await retry<Record<string, unknown> | undefined, unknown>(deps, RETRIES, async () => {
    try {
      return { done: true, result: (await deps.client.send(new UpdateCommand(update))).Attributes };
    } catch (failure) {
      if (failure instanceof ConditionalCheckFailedException) return { done: true, result: undefined };
      if (!isTransient(failure)) throw failure;
      if (!isAnswer(failure)) throw new Unavailable('the table', RETRY_AFTER_SECONDS, failure);
      return { done: false, failure };
    }
  });
  if (!written.done) throw new Unavailable('the table', RETRY_AFTER_SECONDS, written.failure);
  return written.result;
};

/** Where none came the client has waited three times, and the function's time is short. */
const isAnswer = (error: unknown): boolean => isAwsError(error) && error.$metadata['httpStatusCode'] !== undefined;

const Kept = DispatchItem.required({ counts: true, deliveries: true });
const Raw = z.object({ counts: z.object({ PENDING: z.number().default(0), PROCESSING: z.number().default(0) }) });

/** An item that cannot be read was added to all the same: it must not be added to again. */
const toCounted = (item: Record<string, unknown>): CountedDispatch | undefined => {
  const dispatch = Kept.safeParse(item);
  const raw = Raw.safeParse(item);
  if (!dispatch.success || !raw.success) return undefined;
  const { PENDING, PROCESSING } = raw.data.counts;
  return { dispatch: dispatch.data, openRows: PENDING + PROCESSING };
};
