import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import { startDynamoDb } from '../../local/emulators/dynamodb.ts';
import { readSettings } from '../../local/settings.ts';

/** A table of its own in a real DynamoDB-compatible server. */
export interface TestTable {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly stop: () => Promise<void>;
}

const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
const keys = (hash: string, range: string) => [
  { AttributeName: hash, KeyType: 'HASH' as const },
  { AttributeName: range, KeyType: 'RANGE' as const },
];

/** Starts the project's own server, or uses the one of DYNAMODB_ENDPOINT, and makes a table with the product's keys and index. */
export const startTable = async (): Promise<TestTable> => {
  const directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-table-'));
  const { DYNAMODB_ENDPOINT } = process.env;
  const server = await startDynamoDb(
    readSettings({ LOCAL_DIR: directory, LOCAL_DYNAMODB_PORT: '0', DYNAMODB_ENDPOINT }),
    () => undefined,
  );
  const raw = new DynamoDBClient({
    endpoint: server.endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const tableName = `mail-${randomUUID()}`;
  await raw.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk', 'adminKey', 'openKey', 'createdKey'].map(text),
      KeySchema: keys('pk', 'sk'),
      GlobalSecondaryIndexes: [
        { IndexName: 'by-admin', KeySchema: keys('adminKey', 'createdKey'), Projection: { ProjectionType: 'KEYS_ONLY' } },
        { IndexName: 'open', KeySchema: keys('openKey', 'createdKey'), Projection: { ProjectionType: 'KEYS_ONLY' } },
      ],
    }),
  );
  return {
    client: DynamoDBDocumentClient.from(raw, { marshallOptions: { removeUndefinedValues: true } }),
    tableName,
    async stop() {
      await raw.send(new DeleteTableCommand({ TableName: tableName }));
      raw.destroy();
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
