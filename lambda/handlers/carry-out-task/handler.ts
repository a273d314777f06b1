import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

import type { BatchKey } from '../../application/ports.ts';
import { TaskMessageBody } from '../../contracts/queue-messages.ts';
import { describeError } from '../../observability/describe-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface CarryOutTaskHandlerDeps {
  readonly expandBatch: (key: BatchKey) => Promise<'expanded' | 'already-expanded'>;
  readonly telemetry: Telemetry;
}

/** One task after the other; a task that fails comes again. */
export const createHandler = ({ expandBatch, telemetry }: CarryOutTaskHandlerDeps) => {
  const processor = new BatchProcessor(EventType.SQS);

  const carryOut = async ({ kind, dispatchId, batch }: TaskMessageBody): Promise<void> => {
    const outcome = await expandBatch({ dispatchId, batch });
    telemetry.logger.info('task carried out', { kind, dispatchId, batch, outcome });
    if (outcome === 'expanded') telemetry.count('BatchExpanded');
  };

  const handleRecord = async ({ body, messageId }: SQSRecord): Promise<void> => {
    let task: TaskMessageBody | undefined;
    try {
      task = TaskMessageBody.parse(JSON.parse(body));
      await carryOut(task);
    } catch (error) {
      const { dispatchId, batch } = task ?? {};
      telemetry.logger.error('task failed', { messageId, dispatchId, batch, ...describeError(error) });
      telemetry.count('TaskFailed');
      throw error;
    }
  };

  return middy((event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    processPartialResponse(event, handleRecord, processor, {
      context,
      // Each task writes up to 1,000 items; side by side they would only throttle one another.
      processInParallel: false,
      // A batch of one that must come again is normal, so it is reported, not thrown.
      throwOnFullBatchFailure: false,
    }),
  )
    .use(injectLambdaContext(telemetry.logger, { resetKeys: true }))
    .use(logMetrics(telemetry.metrics));
};
