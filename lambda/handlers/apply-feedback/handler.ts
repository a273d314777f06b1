import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

import { parseMailEvent } from '../../contracts/ses/mail-event.ts';
import { openEnvelope } from '../../contracts/ses/sns-envelope.ts';
import type { ReceivedFeedback } from '../../domain/recipient/feedback.ts';
import type { Arrival } from '../../domain/sending/watermark.ts';
import { hideErrors } from '../../observability/hide-errors.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface ApplyFeedbackHandlerDeps {
  /** @returns for each whether it must come again */
  readonly applyFeedback: (batch: readonly ReceivedFeedback[], remainingMs: () => number) => Promise<boolean[]>;
  readonly telemetry: Telemetry;
}

/** Events of SES in, partial failures out. What cannot be understood is dropped: it would never be understood later either. */
export const createHandler = ({ applyFeedback, telemetry }: ApplyFeedbackHandlerDeps) =>
  middy(async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const messages = event.Records.map(({ body, attributes }) => openEnvelope(body, Number(attributes.SentTimestamp)));
    const batch = event.Records.map((record, i) => ({
      ...parseMailEvent(messages[i]?.body ?? ''),
      arrival: arrivalOf(record),
    }));
    const malformed = event.Records.filter((_, i) => batch[i]?.kind === 'malformed').map(({ messageId }) => messageId);
    if (malformed.length > 0) telemetry.logger.warn('events that cannot be understood', { messageIds: malformed });
    const enveloped = event.Records.filter((_, i) => messages[i]?.isWronglyEnveloped === true).map(({ messageId }) => messageId);
    if (enveloped.length > 0) {
      telemetry.logger.warn('events in an envelope of SNS', { messageIds: enveloped });
      telemetry.count('FeedbackEnveloped', enveloped.length);
    }

    const comeAgain = await applyFeedback(batch, () => context.getRemainingTimeInMillis());
    return {
      batchItemFailures: event.Records.filter((_, i) => comeAgain[i] !== false).map(({ messageId }) => ({
        itemIdentifier: messageId,
      })),
    };
  })
    .use(hideErrors(telemetry.logger))
    .use(injectLambdaContext(telemetry.logger, { resetKeys: true }))
    .use(logMetrics(telemetry.metrics));

const arrivalOf = ({ attributes }: SQSRecord): Arrival => ({
  queuedAt: Number(attributes.SentTimestamp),
  firstReceivedAt: Number(attributes.ApproximateFirstReceiveTimestamp),
  receiveCount: Number(attributes.ApproximateReceiveCount),
});
