import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { WalkRepository } from '../../../application/ports/control.ts';
import type { Canary } from '../../../domain/recipient/unclear.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { isNotSince } from '../client/instant-conditions.ts';
import { controlKey } from '../client/keys.ts';
import { Iso } from './items.ts';

/**
 * What cannot be read counts as absent, and the next walk writes it anew. A clock that was lost so makes every attempt wait anew,
 * which is the safe side.
 */
const WalkItem = z.object({
  seconds: z.number().nonnegative().catch(0),
  movedAt: Iso.optional().catch(undefined),
  canaries: z.array(z.object({ sentAt: Iso, clock: z.number() })).catch([]),
  position: z.string().optional().catch(undefined),
});

const Key = controlKey('UNCLEAR');

/** The control item of the walks over the ledger of unclear attempts. */
export const createWalkRepository = (client: DynamoDBDocumentClient, TableName: string): WalkRepository => {
  /** @returns false: the condition did not hold */
  const update = async (expressions: Omit<UpdateCommandInput, 'TableName' | 'Key'>): Promise<boolean> => {
    try {
      await client.send(new UpdateCommand({ TableName, Key, ...expressions }));
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  };

  return {
    async read() {
      const { Item } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
      const { seconds, movedAt, canaries, position } = WalkItem.parse(Item ?? {});
      return { seconds, canaries, ...(movedAt !== undefined && { movedAt }), ...(position !== undefined && { position }) };
    },

    moveClock({ seconds, movedAt = 0, canaries }, was) {
      const { ConditionExpression, values } =
        was.movedAt === undefined
          ? isNotSince('movedAt', 0)
          : { ConditionExpression: 'movedAt = :was', values: { ':was': toIso(was.movedAt) } };
      return update({
        UpdateExpression: 'SET #seconds = :seconds, movedAt = :movedAt, canaries = :canaries',
        ConditionExpression,
        // A reserved word.
        ExpressionAttributeNames: { '#seconds': 'seconds' },
        ExpressionAttributeValues: {
          ':seconds': seconds,
          ':movedAt': toIso(movedAt),
          ':canaries': canaries.map(toStoredCanary),
          ...values,
        },
      });
    },

    async keepPosition(position) {
      const set = { UpdateExpression: 'SET #position = :position', ExpressionAttributeValues: { ':position': position } };
      const change = position === undefined ? { UpdateExpression: 'REMOVE #position' } : set;
      await update({ ...change, ExpressionAttributeNames: { '#position': 'position' } });
    },

    bookCanary(now, apartSeconds) {
      const { ConditionExpression, values } = isNotSince('canaryBookedAt', now - apartSeconds * 1000 + 1);
      return update({
        UpdateExpression: 'SET canaryBookedAt = :now',
        ConditionExpression,
        ExpressionAttributeValues: { ':now': toIso(now), ...values },
      });
    },

    async keepCanaries(canaries) {
      await update({
        UpdateExpression: 'SET canaries = :canaries',
        ExpressionAttributeValues: { ':canaries': canaries.map(toStoredCanary) },
      });
    },
  };
};

const toStoredCanary = ({ sentAt, clock }: Canary) => ({ sentAt: toIso(sentAt), clock });
