import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { SendingRepository } from '../../../application/ports/control.ts';
import { type Pause, SENDING, type Sending } from '../../../domain/sending/pause.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { controlKey } from '../client/keys.ts';
import { updateOf } from '../client/update.ts';
import { Count, Iso } from '../recipient/items.ts';
import { isAwsError, isTransient } from '../recipient/statements.ts';

const PauseSchema = z.discriminatedUnion('by', [
  z.object({ by: z.literal('operator'), who: z.string(), since: Iso, reason: z.string().exactOptional() }),
  z.object({
    by: z.literal('service'),
    code: z.string(),
    since: Iso,
    until: Iso,
    seconds: z.number().positive(),
    probeUntil: Iso.exactOptional(),
    probes: Count.exactOptional(),
    accepted: Count.exactOptional(),
  }),
]) satisfies z.ZodType<Pause>;

const SendingItem = z.object({
  version: Count,
  pause: PauseSchema.exactOptional(),
  resumedAt: Iso.exactOptional(),
  lastSeconds: z.number().positive().exactOptional(),
}) satisfies z.ZodType<Sending>;

const Key = controlKey('SENDING');

/** Whether the account may send, as the table has it. An item that was never written is one that pauses nothing. */
export const createSendingRepository = (client: DynamoDBDocumentClient, tableName: string): SendingRepository => ({
  async read() {
    try {
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
      return Item === undefined ? SENDING : SendingItem.parse(Item);
    } catch (error) {
      if (isAwsError(error) && !isTransient(error)) throw error;
      // Also an item that cannot be read: nothing is sent on a guess.
      return 'unavailable';
    }
  },

  async change({ version, pause, resumedAt, lastSeconds }) {
    const set = {
      version,
      pause: pause && toStoredPause(pause),
      resumedAt: resumedAt === undefined ? undefined : toIso(resumedAt),
      lastSeconds,
    };
    try {
      await client.send(
        new UpdateCommand(updateOf(tableName, Key, set, { version: version === SENDING.version + 1 ? undefined : version - 1 })),
      );
      return true;
    } catch (error) {
      // Our own change, repeated by the SDK, ends here too. Two who ask for the same cannot be told apart, and only one may probe.
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  },
});

const toStoredPause = (pause: Pause): Record<string, unknown> =>
  pause.by === 'operator'
    ? { ...pause, since: toIso(pause.since) }
    : {
        ...pause,
        since: toIso(pause.since),
        until: toIso(pause.until),
        ...(pause.probeUntil !== undefined && { probeUntil: toIso(pause.probeUntil) }),
      };
