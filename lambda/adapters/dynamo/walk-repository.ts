import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { WalkRepository } from '../../application/unclear-ports.ts';
import { toIso } from '../../domain/instant.ts';
import type { Canary } from '../../domain/unclear.ts';
import { Iso } from './items.ts';
import { controlKey } from './keys.ts';

const WalkItem = z.object({
  seconds: z.number().nonnegative().default(0),
  movedAt: Iso.exactOptional(),
  canaries: z.array(z.object({ sentAt: Iso, clock: z.number() })).default([]),
  position: z.string().exactOptional(),
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
      return WalkItem.parse(Item ?? {});
    },

    moveClock: ({ seconds, movedAt, canaries }, was) =>
      update({
        UpdateExpression: 'SET #seconds = :seconds, movedAt = :movedAt, canaries = :canaries',
        ConditionExpression: was.movedAt === undefined ? 'attribute_not_exists(movedAt)' : 'movedAt = :was',
        // A reserved word.
        ExpressionAttributeNames: { '#seconds': 'seconds' },
        ExpressionAttributeValues: {
          ':seconds': seconds,
          ':movedAt': toIso(movedAt ?? 0),
          ':canaries': canaries.map(toStoredCanary),
          ...(was.movedAt !== undefined && { ':was': toIso(was.movedAt) }),
        },
      }),

    async keepPosition(position) {
      const set = { UpdateExpression: 'SET #position = :position', ExpressionAttributeValues: { ':position': position } };
      const change = position === undefined ? { UpdateExpression: 'REMOVE #position' } : set;
      await update({ ...change, ExpressionAttributeNames: { '#position': 'position' } });
    },

    bookCanary: (now, apartSeconds) =>
      update({
        UpdateExpression: 'SET canaryBookedAt = :now',
        ConditionExpression: 'attribute_not_exists(canaryBookedAt) OR canaryBookedAt <= :latest',
        ExpressionAttributeValues: { ':now': toIso(now), ':latest': toIso(now - apartSeconds * 1000) },
      }),

    async keepCanaries(canaries) {
      await update({
        UpdateExpression: 'SET canaries = :canaries',
        ExpressionAttributeValues: { ':canaries': canaries.map(toStoredCanary) },
      });
    },
  };
};

const toStoredCanary = ({ sentAt, clock }: Canary) => ({ sentAt: toIso(sentAt), clock });
