import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { TableIdentity } from '../../../application/ports/control.ts';
import { controlKey } from '../client/keys.ts';
import { isAwsError, isTransient } from '../recipient/statements.ts';

const IdentityItem = z.object({ tableId: z.string().exactOptional() });

const Key = controlKey('TABLE');

/** The control item that names the table its items belong to: a restored table brings along the name of another. */
export const createTableIdentity = (client: DynamoDBDocumentClient, tableName: string, tableId: string): TableIdentity => ({
  async origin() {
    try {
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
      const recorded = IdentityItem.parse(Item ?? {}).tableId;
      if (recorded === undefined) return 'unrecorded';
      return recorded === tableId ? 'own' : 'restored';
    } catch (error) {
      if (isAwsError(error) && !isTransient(error)) throw error;
      return 'unavailable';
    }
  },

  async adopt() {
    const UpdateExpression = 'SET tableId = :id';
    const ExpressionAttributeValues = { ':id': tableId };
    await client.send(new UpdateCommand({ TableName: tableName, Key, UpdateExpression, ExpressionAttributeValues }));
  },
});
