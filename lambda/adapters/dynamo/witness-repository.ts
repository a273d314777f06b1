import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { WitnessRepository } from '../../application/ports.ts';
import { type Instant, toIso } from '../../domain/instant.ts';
import { type Hold, HOLD_DAYS, MOST_HOLDS } from '../../domain/witness.ts';
import { Iso } from './items.ts';
import { controlKey } from './keys.ts';
import { isOfAws, isPassing } from './statements.ts';

const Holds = z.record(z.string(), Iso).default({});

/** The item, absent attributes read as nothing known. `holds` maps lease tokens to send times. */
const FeedbackItem = z.object({ mark: Iso.exactOptional(), holds: Holds, canaries: z.array(Iso).default([]) });

/** Starts the key of a hold without a lease; no lease token starts so. */
const WITHOUT_LEASE = '-';

const DAY_MS = 24 * 3_600_000;

/** An expression may have 300 operators and 4 KB; what is left over goes with the next call. */
const REMOVED_AT_ONCE = 100;

/** The control item of feedback. Trouble that passes is an answer: it delays what the witness says, and never a mail. */
export const createWitnessRepository = (client: DynamoDBDocumentClient, tableName: string): WitnessRepository => {
  const update: Update = async (expressions) => {
    try {
      const input = { TableName: tableName, Key: controlKey('FEEDBACK'), ...expressions };
      return { done: true, item: (await client.send(new UpdateCommand(input))).Attributes };
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException || isPassing(error)) return { done: false, item: undefined };
      throw error;
    }
  };

  return {
    async read() {
      try {
        const command = new GetCommand({ TableName: tableName, Key: controlKey('FEEDBACK'), ConsistentRead: true });
        const { holds, ...rest } = FeedbackItem.parse((await client.send(command)).Item ?? {});
        return { ...rest, holds: Object.entries(holds).map(toHold) };
      } catch (error) {
        if (isOfAws(error) && !isPassing(error)) throw error;
        // Also an item that cannot be read: nothing counts as unsent on a guess.
        return 'unavailable';
      }
    },

    async bookCanary(now, apartSeconds) {
      const { done } = await update({
        UpdateExpression: 'SET canaryBookedAt = :now',
        ConditionExpression: 'attribute_not_exists(canaryBookedAt) OR canaryBookedAt <= :latest',
        ExpressionAttributeValues: { ':now': toIso(now), ':latest': toIso(now - apartSeconds * 1000) },
      });
      return done;
    },

    async recordCanaries(canaries) {
      await update({
        UpdateExpression: 'SET canaries = :canaries',
        ExpressionAttributeValues: { ':canaries': canaries.map(toIso) },
      });
    },

    hold: (holds, now) => hold(update, holds, now),

    async release(leases) {
      if (leases.length > 0) await remove(update, leases);
    },

    async moveMark(to) {
      await update({
        UpdateExpression: 'SET mark = :to',
        ConditionExpression: 'attribute_not_exists(mark) OR mark < :to',
        ExpressionAttributeValues: { ':to': toIso(to) },
      });
    },
  };
};

/** `done` false: the condition did not hold, or the table did not answer. */
type Update = (
  expressions: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
) => Promise<{ readonly done: boolean; readonly item: Record<string, unknown> | undefined }>;

const keyOf = ({ lease, sentAt }: Hold): string => lease ?? `${WITHOUT_LEASE}${toIso(sentAt)}`;

const toHold = ([key, sentAt]: [string, Instant]): Hold => (key.startsWith(WITHOUT_LEASE) ? { sentAt } : { lease: key, sentAt });

/** A hold that is there already needs no room, so the same event may fail as often as it likes. */
const hold = async (update: Update, holds: readonly Hold[], now: Instant): Promise<boolean> => {
  // A key can be set in a map only once the map is there.
  const opened = await update({
    UpdateExpression: 'SET holds = if_not_exists(holds, :none)',
    ExpressionAttributeValues: { ':none': {} },
    ReturnValues: 'ALL_NEW',
  });
  if (!opened.done) return false;
  const kept = FeedbackItem.parse(opened.item ?? {}).holds;
  const old = Object.keys(kept).filter((key) => (kept[key] ?? now) < now - HOLD_DAYS * DAY_MS);
  if (old.length > 0) await remove(update, old);

  const entries = [...new Map(holds.map((each) => [keyOf(each), each.sentAt]))];
  const added = entries.filter(([key]) => !Object.hasOwn(kept, key) || old.includes(key)).length;
  const { done } = await update({
    UpdateExpression: `SET ${entries.map((_, i) => `holds.#k${i} = :t${i}`).join(', ')}`,
    ConditionExpression: 'size(holds) <= :room',
    ExpressionAttributeNames: Object.fromEntries(entries.map(([key], i) => [`#k${i}`, key])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(entries.map(([, sentAt], i) => [`:t${i}`, toIso(sentAt)])),
      ':room': MOST_HOLDS - added,
    },
  });
  return done;
};

/** A hold that stays because the table did not answer only makes somebody wait. */
const remove = async (update: Update, keys: readonly string[]): Promise<void> => {
  const some = keys.slice(0, REMOVED_AT_ONCE);
  await update({
    UpdateExpression: `REMOVE ${some.map((_, i) => `holds.#k${i}`).join(', ')}`,
    ConditionExpression: 'attribute_exists(holds)',
    ExpressionAttributeNames: Object.fromEntries(some.map((key, i) => [`#k${i}`, key])),
  });
};
