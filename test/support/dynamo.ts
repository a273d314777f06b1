import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchExecuteStatementCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { AwsClientStub } from 'aws-sdk-client-mock';

/** A client that is never asked: the stub answers for it. */
export const documentClient = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ region: 'eu-west-1' }));

/** An error as the SDK throws it. */
export const sdkError = (name: string, httpStatusCode?: number): Error =>
  Object.assign(new Error(`${name} about kim@example.com`), {
    name,
    $metadata: { attempts: 1, ...(httpStatusCode !== undefined && { httpStatusCode }) },
  });

export interface SentStatement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** The statements of each batch that was sent. */
export const sentStatements = (stub: AwsClientStub<DynamoDBDocumentClient>): SentStatement[][] =>
  stub.commandCalls(BatchExecuteStatementCommand).map(({ args }) =>
    (args[0].input.Statements ?? []).map(({ Statement = '', Parameters = [] }) => ({
      text: Statement,
      parameters: Parameters,
    })),
  );
