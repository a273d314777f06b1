import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';

import { parseKey } from '../../adapters/dynamo/client/keys.ts';
import type { ProgressRecord } from '../../application/progress/follow-progress.ts';
import { DispatchImage, ProgressRecordShape, RecipientImage, ReopenedImage } from '../../contracts/stream/progress-record.ts';
import { RECIPIENT_PREFIX } from '../../contracts/table-keys.ts';
import { hideErrors } from '../../observability/hide-errors.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface FollowProgressHandlerDeps {
  readonly followProgress: (records: readonly ProgressRecord[], remainingMs: () => number) => Promise<number | undefined>;
  readonly telemetry: Telemetry;
}

/** The table's stream in; out comes the sequence number from which the stream must come again. */
export const createHandler = ({ followProgress, telemetry }: FollowProgressHandlerDeps) =>
  middy(async (event: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> => {
    const records = event.Records.map(interpret);
    const malformed = records.filter(({ kind }) => kind === 'malformed').length;
    if (malformed > 0) {
      // Passed over: the next recount counts what it tells.
      telemetry.logger.error('stream records that cannot be read', { malformed });
      telemetry.count('ProgressRecordMalformed', malformed);
    }
    const firstOpen = await followProgress(records, () => context.getRemainingTimeInMillis());
    if (firstOpen === undefined) return { batchItemFailures: [] };
    telemetry.logger.warn('records will come again', { records: records.length - firstOpen });
    const itemIdentifier = event.Records[firstOpen]?.dynamodb?.SequenceNumber;
    // Without a sequence number to point at, the whole batch must come again.
    if (itemIdentifier === undefined) throw new Error('a record without a sequence number could not be followed');
    return { batchItemFailures: [{ itemIdentifier }] };
  })
    .use(hideErrors(telemetry.logger))
    .use(injectLambdaContext(telemetry.logger, { resetKeys: true }))
    .use(logMetrics(telemetry.metrics));

const OTHER: ProgressRecord = { kind: 'other' };
const POISON: ProgressRecord = { kind: 'malformed' };

/** AWS's documents disagree on filtering by eventName, so what the filter let through is judged again. */
export const interpret = (record: unknown): ProgressRecord => {
  const parsed = ProgressRecordShape.safeParse(record);
  if (!parsed.success) return POISON;
  const { eventName, dynamodb } = parsed.data;
  // New rows were counted at accept, and what expired stays counted.
  if (eventName !== 'MODIFY') return OTHER;
  const { Keys, OldImage, NewImage, ApproximateCreationDateTime } = dynamodb;
  if (Keys.sk.S === 'DISPATCH') return ofDispatch(OldImage, NewImage, ApproximateCreationDateTime * 1000);
  const key = parseKey({ pk: Keys.pk.S, sk: Keys.sk.S });
  if (key?.kind === 'task')
    return ReopenedImage.safeParse(NewImage).success ? { kind: 'reopened', dispatchId: key.dispatchId } : OTHER;
  if (!Keys.sk.S.startsWith(RECIPIENT_PREFIX)) return OTHER;
  return key?.kind === 'recipient' ? ofRecipient(key.dispatchId, OldImage, NewImage) : POISON;
};

const ofDispatch = (oldImage: unknown, newImage: unknown, at: number): ProgressRecord => {
  const before = DispatchImage.safeParse(oldImage);
  const after = DispatchImage.safeParse(newImage);
  return before.success && after.success ? { kind: 'dispatch', before: before.data, after: after.data, at } : POISON;
};

const ofRecipient = (dispatchId: string, oldImage: unknown, newImage: unknown): ProgressRecord => {
  const before = RecipientImage.safeParse(oldImage).data;
  const after = RecipientImage.safeParse(newImage).data;
  if (before === undefined || after === undefined) return POISON;
  const isSame = before.status === after.status && before.delivery === after.delivery;
  return isSame ? OTHER : { kind: 'recipient', dispatchId, before, after };
};
