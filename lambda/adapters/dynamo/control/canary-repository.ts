import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { CanaryRepository } from '../../../application/ports/control.ts';
import type { SendAnswer } from '../../../domain/sending/send-answer.ts';
import { type Instant, toIso } from '../../../domain/shared/instant.ts';
import { controlKey } from '../client/keys.ts';
import { type OnUnreadable, readReplaceable } from '../client/replaceable-item.ts';
import { Iso } from '../recipient/items.ts';
import { isTransient } from '../recipient/statements.ts';

const Answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('accepted'), messageId: z.string() }),
  z.object({ kind: z.enum(['throttled', 'account', 'transient', 'unclear', 'permanent']), code: z.string() }),
]) satisfies z.ZodType<SendAnswer>;

/** `beganAt` and `canaryAnswer` are of the newest canary; `refusedCredentials` maps environments to when theirs were refused. */
const CanaryItem = z.object({
  bookedAt: Iso.exactOptional(),
  beganAt: Iso.exactOptional(),
  canaryAnswer: Answer.exactOptional(),
  refusedCredentials: z.record(z.string(), Iso).default({}),
});

const Key = controlKey('CANARY');
const CREDENTIALS_KEPT_MS = 5 * 60_000;
const TRIES = 3;

/** The control item of canaries. Whatever the table does not do only means that less is known. */
export const createCanaryRepository = (
  client: DynamoDBDocumentClient,
  tableName: string,
  onUnreadable?: OnUnreadable,
): CanaryRepository => {
  const update = async (expressions: Omit<UpdateCommandInput, 'TableName' | 'Key'>): Promise<boolean> => {
    try {
      await client.send(new UpdateCommand({ TableName: tableName, Key, ...expressions }));
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException || isTransient(error)) return false;
      throw error;
    }
  };

  const read = async (): Promise<z.output<typeof CanaryItem> | undefined> => {
    try {
      return (await readReplaceable({ client, tableName, onUnreadable }, Key, CanaryItem)) ?? CanaryItem.parse({});
    } catch (error) {
      if (isTransient(error)) return undefined;
      throw error;
    }
  };

  return {
    async newest() {
      const { beganAt, canaryAnswer: answer } = (await read()) ?? {};
      return beganAt === undefined || answer === undefined ? undefined : { beganAt, answer };
    },

    book: (now, apartSeconds) =>
      update({
        UpdateExpression: 'SET bookedAt = :now',
        ConditionExpression: 'attribute_not_exists(bookedAt) OR bookedAt <= :latest',
        ExpressionAttributeValues: { ':now': toIso(now), ':latest': toIso(now - apartSeconds * 1000) },
      }),

    async record({ beganAt, answer }) {
      await update({
        UpdateExpression: 'SET beganAt = :beganAt, canaryAnswer = :answer',
        ConditionExpression: 'attribute_not_exists(beganAt) OR beganAt < :beganAt',
        ExpressionAttributeValues: { ':beganAt': toIso(beganAt), ':answer': answer },
      });
    },

    async noteCredentials(environment, now) {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const item = await read();
        if (item === undefined) return 0;
        const next = { ...recent(item.refusedCredentials, now), [environment]: now };
        if (await update(replaceCredentials(item.refusedCredentials, next))) return Object.keys(next).length;
      }
      return 0;
    },
  };
};

type Refused = Readonly<Record<string, Instant>>;

const recent = (refused: Refused, now: Instant): Refused =>
  Object.fromEntries(Object.entries(refused).filter(([, at]) => now - at < CREDENTIALS_KEPT_MS));

const toStored = (refused: Refused): Record<string, string> =>
  Object.fromEntries(Object.entries(refused).map(([environment, at]) => [environment, toIso(at)]));

/** In place of what was read: environments that fail together must not forget one another. */
const replaceCredentials = (was: Refused, next: Refused): Omit<UpdateCommandInput, 'TableName' | 'Key'> => {
  const isNew = Object.keys(was).length === 0;
  return {
    UpdateExpression: 'SET refusedCredentials = :next',
    ConditionExpression: isNew
      ? 'attribute_not_exists(refusedCredentials) OR refusedCredentials = :was'
      : 'refusedCredentials = :was',
    ExpressionAttributeValues: { ':next': toStored(next), ':was': toStored(was) },
  };
};
