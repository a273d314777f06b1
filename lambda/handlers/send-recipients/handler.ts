import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

import type { SendQueue } from '../../application/ports/queues.ts';
import type { Clock } from '../../application/ports/system.ts';
import { applyActions } from '../../application/send/apply-actions.ts';
import type { RecipientMessage } from '../../application/send/finished-attempt.ts';
import { SendMessageBody } from '../../contracts/queue/queue-messages.ts';
import type { MessageAction } from '../../domain/recipient/decide-message.ts';
import { hideErrors } from '../../observability/hide-errors.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface SendRecipientsHandlerDeps {
  readonly sendRecipients: (messages: readonly RecipientMessage[], remainingMs: () => number) => Promise<MessageAction[]>;
  readonly queue: SendQueue;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Called at the start of each invocation. Must not throw. */
  readonly onStart?: () => void;
}

/** SQS in, partial failures out. A body that cannot be understood fails at once, so that SQS dead-letters it. */
export const createHandler = ({ sendRecipients, queue, clock, telemetry, onStart }: SendRecipientsHandlerDeps) =>
  middy(async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    onStart?.();
    const receivedAt = clock();
    const parsed = event.Records.map((record) => ({ record, message: parse(record, receivedAt) }));
    const understood = parsed.flatMap(({ record, message }) => (message ? [{ record, message }] : []));
    const malformed = parsed.filter(({ message }) => message === undefined).map(({ record }) => record);

    const actions = await sendRecipients(
      understood.map(({ message }) => message),
      () => context.getRemainingTimeInMillis(),
    );
    const stays = await applyActions(
      queue,
      clock,
      understood.map(({ record, message }, i) => ({
        receiptHandle: record.receiptHandle,
        key: message.key,
        action: actions[i] ?? { do: 'keep-failing' },
      })),
    );

    if (malformed.length > 0) {
      telemetry.logger.error('messages that cannot be understood', { messageIds: malformed.map(({ messageId }) => messageId) });
      telemetry.count('MessageMalformed', malformed.length);
      await queue.hide(malformed.map(({ receiptHandle }) => ({ receiptHandle, seconds: 0 })));
    }
    return {
      batchItemFailures: [...understood.filter((_, i) => stays[i]).map(({ record }) => record), ...malformed].map(
        ({ messageId }) => ({
          itemIdentifier: messageId,
        }),
      ),
    };
  })
    .use(hideErrors(telemetry.logger))
    .use(injectLambdaContext(telemetry.logger, { resetKeys: true }))
    .use(logMetrics(telemetry.metrics));

const parse = ({ body, attributes }: SQSRecord, receivedAt: number): RecipientMessage | undefined => {
  const result = SendMessageBody.safeParse(parseJson(body));
  if (!result.success) return undefined;
  const { id, dispatchId, shard, applyId } = result.data;
  return {
    id,
    key: { dispatchId, shard, applyId },
    sentAt: Number(attributes.SentTimestamp),
    receiveCount: Number(attributes.ApproximateReceiveCount),
    receivedAt,
  };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
