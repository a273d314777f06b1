import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { FeedbackRepository } from '../../../application/ports/control.ts';
import { MOST_UNAPPLIED, UNAPPLIED_DAYS, type UnappliedEvent } from '../../../domain/sending/watermark.ts';
import { type Instant, toIso } from '../../../domain/shared/instant.ts';
import { isNotSince } from '../client/instant-conditions.ts';
import { controlKey } from '../client/keys.ts';
import { Iso } from '../recipient/items.ts';
import { isAwsError, isTransient } from '../recipient/statements.ts';

const Unapplied = z.record(z.string(), Iso).default({});

/** The item, absent attributes read as nothing known. `unapplied` maps lease tokens to send times. */
const FeedbackItem = z.object({ watermark: Iso.exactOptional(), behindAt: Iso.exactOptional(), unapplied: Unapplied });

/** Starts the key of an unapplied event without a lease; no lease token starts so. */
const WITHOUT_LEASE = '-';

const DAY_MS = 24 * 3_600_000;

/** An expression may have 300 operators and 4 KB; what is left over goes with the next call. */
const REMOVED_AT_ONCE = 100;

/** The control item of feedback. Trouble that passes is an answer: it delays what is concluded from events, and never a mail. */
export const createFeedbackRepository = (client: DynamoDBDocumentClient, tableName: string): FeedbackRepository => {
  const update: Update = async (expressions) => {
    try {
      const input = { TableName: tableName, Key: controlKey('FEEDBACK'), ...expressions };
      return { outcome: 'done', item: (await client.send(new UpdateCommand(input))).Attributes };
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return { outcome: 'refused' };
      if (isTransient(error)) return { outcome: 'unanswered' };
      throw error;
    }
  };
  const raise = (name: 'watermark' | 'behindAt', to: Instant) => {
    const { ConditionExpression, values } = isNotSince(name, to);
    return update({
      UpdateExpression: `SET ${name} = :to`,
      ConditionExpression,
      ExpressionAttributeValues: { ':to': toIso(to), ...values },
    });
  };

  return {
    async read() {
      try {
        const command = new GetCommand({ TableName: tableName, Key: controlKey('FEEDBACK'), ConsistentRead: true });
        const { unapplied, ...rest } = FeedbackItem.parse((await client.send(command)).Item ?? {});
        return { ...rest, unapplied: Object.entries(unapplied).map(toEvent) };
      } catch (error) {
        if (isAwsError(error) && !isTransient(error)) throw error;
        // Also an item that cannot be read: nothing counts as unsent on a guess.
        return 'unavailable';
      }
    },

    addUnapplied: (events, now) => add(update, events, now),

    async removeUnapplied(leases) {
      if (leases.length > 0) await remove(update, leases);
    },

    // Refused: a later instant is there.
    recordBehind: async (at) => (await raise('behindAt', at)).outcome !== 'unanswered',

    async moveWatermark(to) {
      await raise('watermark', to);
    },
  };
};

/** `refused`: the condition did not hold. `unanswered`: it may or may not have been carried out. */
type Update = (
  expressions: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
) => Promise<
  | { readonly outcome: 'done'; readonly item: Record<string, unknown> | undefined }
  | { readonly outcome: 'refused' | 'unanswered' }
>;

const keyOf = ({ lease, sentAt }: UnappliedEvent): string => lease ?? `${WITHOUT_LEASE}${toIso(sentAt)}`;

const toEvent = ([key, sentAt]: [string, Instant]): UnappliedEvent =>
  key.startsWith(WITHOUT_LEASE) ? { sentAt } : { lease: key, sentAt };

/** An entry that is there already needs no room, so the same event may fail as often as it likes. */
const add = async (update: Update, events: readonly UnappliedEvent[], now: Instant): Promise<boolean> => {
  // A key can be set in a map only once the map is there.
  const opened = await update({
    UpdateExpression: 'SET unapplied = if_not_exists(unapplied, :none)',
    ExpressionAttributeValues: { ':none': {} },
    ReturnValues: 'ALL_NEW',
  });
  if (opened.outcome !== 'done') return false;
  const found = z.object({ unapplied: Unapplied }).safeParse(opened.item ?? {});
  // Beside what cannot be read there is no telling how much room is left.
  if (!found.success) return false;
  const kept = found.data.unapplied;
  const old = Object.keys(kept).filter((key) => (kept[key] ?? now) < now - UNAPPLIED_DAYS * DAY_MS);
  if (old.length > 0) await remove(update, old);

  const entries = [...new Map(events.map((each) => [keyOf(each), each.sentAt]))];
  const added = entries.filter(([key]) => !Object.hasOwn(kept, key) || old.includes(key)).length;
  const { outcome } = await update({
    UpdateExpression: `SET ${entries.map((_, i) => `unapplied.#k${i} = :t${i}`).join(', ')}`,
    ConditionExpression: 'size(unapplied) <= :room',
    ExpressionAttributeNames: Object.fromEntries(entries.map(([key], i) => [`#k${i}`, key])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(entries.map(([, sentAt], i) => [`:t${i}`, toIso(sentAt)])),
      ':room': MOST_UNAPPLIED - added,
    },
  });
  return outcome === 'done';
};

/** An entry that stays because the table did not answer only makes somebody wait. */
const remove = async (update: Update, keys: readonly string[]): Promise<void> => {
  const some = keys.slice(0, REMOVED_AT_ONCE);
  await update({
    UpdateExpression: `REMOVE ${some.map((_, i) => `unapplied.#k${i}`).join(', ')}`,
    ConditionExpression: 'attribute_exists(unapplied)',
    ExpressionAttributeNames: Object.fromEntries(some.map((key, i) => [`#k${i}`, key])),
  });
};
