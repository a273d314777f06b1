import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { S3Client } from '@aws-sdk/client-s3';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';

import { REGION } from './cloudformation/types/identity.ts';

/** No emulator checks them; the SDK refuses to go without. */
export const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Clients of the emulators, for the stack's own use. */
export const createClients = (endpoints: { readonly dynamodb: string; readonly sqs: string; readonly pollers: string }) => {
  const at = (endpoint: string) => ({ endpoint, region: REGION, credentials: CREDENTIALS });
  return {
    dynamodb: new DynamoDBClient(at(endpoints.dynamodb)),
    streams: new DynamoDBStreamsClient(at(endpoints.dynamodb)),
    sqs: new SQSClient(at(endpoints.sqs)),
    /** Through the counting proxy, if there is one: what AWS's own pollers do is billed too. */
    pollers: new SQSClient({ ...at(endpoints.pollers), requestHandler: { httpAgent: { maxSockets: 200 } } }),
    sns: new SNSClient(at(endpoints.sqs)),
    s3: new S3Client({ ...at(endpoints.sqs), forcePathStyle: true }),
  };
};

/** All of them. */
export type Clients = ReturnType<typeof createClients>;
