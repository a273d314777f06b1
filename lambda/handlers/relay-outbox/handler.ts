import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';

import { parseKey } from '../../adapters/dynamo/client/keys.ts';
import type { OutboxRecord } from '../../application/relay/relay-outbox.ts';
import { StreamRecord } from '../../contracts/stream/stream-record.ts';
import { BATCH_PREFIX, RECIPIENT_PREFIX, TASK_PREFIX } from '../../contracts/table-keys.ts';
import { hideErrors } from '../../observability/hide-errors.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface RelayOutboxHandlerDeps {
  readonly relay: (records: readonly OutboxRecord[]) => Promise<number | undefined>;
  readonly telemetry: Telemetry;
}

/** The table's stream in; out comes the sequence number from which the stream must come again. */
export const createHandler = ({ relay, telemetry }: RelayOutboxHandlerDeps) =>
  middy(async (event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    const records = event.Records.map(interpret);
    const malformed = records.filter(({ kind }) => kind === 'malformed').length;
    if (malformed > 0) {
      telemetry.logger.error('stream records that cannot be handled', { malformed });
      telemetry.count('OutboxRecordMalformed', malformed);
    }
    const firstOpen = await relay(records);
    if (firstOpen === undefined) return { batchItemFailures: [] };
    telemetry.logger.warn('records will come again', { records: records.length - firstOpen });
    const itemIdentifier = event.Records[firstOpen]?.dynamodb?.SequenceNumber;
    // Without a sequence number to point at, the whole batch must come again.
    if (itemIdentifier === undefined) throw new Error('a record without a sequence number could not be kept');
    return { batchItemFailures: [{ itemIdentifier }] };
  })
    .use(hideErrors(telemetry.logger))
    .use(injectLambdaContext(telemetry.logger, { resetKeys: true }))
    .use(logMetrics(telemetry.metrics));

/** AWS's documents disagree on filtering by eventName, so what the filter let through is judged again. */
export const interpret = (record: unknown): OutboxRecord => {
  const parsed = StreamRecord.safeParse(record);
  if (!parsed.success) return { kind: 'malformed', record };
  const { eventName, dynamodb } = parsed.data;
  const key = parseKey({ pk: dynamodb.Keys.pk.S, sk: dynamodb.Keys.sk.S });
  if (key?.kind === 'batch')
    return eventName === 'INSERT' ? { kind: 'batch', key: { dispatchId: key.dispatchId, batch: key.batch } } : { kind: 'other' };
  if (key?.kind === 'task')
    return eventName === 'INSERT' ? { kind: 'task', key: { dispatchId: key.dispatchId, task: key.task } } : { kind: 'other' };
  if (key?.kind !== 'recipient') return isKept(dynamodb.Keys.sk.S) ? { kind: 'malformed', record } : { kind: 'other' };
  const { dispatchId, shard, applyId } = key;
  const reopened =
    eventName === 'MODIFY' && REOPENED_FROM.has(dynamodb.OldImage?.status?.S) && dynamodb.NewImage?.status?.S === 'PENDING';
  return eventName === 'INSERT' || reopened ? { kind: 'recipient', key: { dispatchId, shard, applyId } } : { kind: 'other' };
};

const REOPENED_FROM: ReadonlySet<string | undefined> = new Set(['FAILED', 'UNKNOWN']);

/** A key that begins as ours but does not go on as ours: somebody's mail may hang on it, so it is not passed over. */
const isKept = (sk: string): boolean => [RECIPIENT_PREFIX, BATCH_PREFIX, TASK_PREFIX].some((prefix) => sk.startsWith(prefix));
