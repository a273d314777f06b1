import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

import type { CarryOutTask } from '../../application/carry-out-task.ts';
import type { BatchKey, TaskKey, TaskQueue } from '../../application/ports.ts';
import { TaskMessageBody } from '../../contracts/queue-messages.ts';
import { describeError } from '../../observability/describe-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface CarryOutTaskHandlerDeps {
  readonly expandBatch: (key: BatchKey) => Promise<'expanded' | 'already-expanded'>;
  readonly carryOutTask: CarryOutTask;
  readonly taskQueue: Pick<TaskQueue, 'carryOut'>;
  readonly telemetry: Telemetry;
}

/** Thrown when a task that must go on could not be given its next message; the one in hand comes again instead. */
export class TaskNotHandedOnError extends Error {
  override readonly name = 'TaskNotHandedOnError';
}

/** One task after the other; a task that fails comes again. */
export const createHandler = (deps: CarryOutTaskHandlerDeps) => {
  const { telemetry } = deps;
  const processor = new BatchProcessor(EventType.SQS);

  const handleRecord = async ({ body, messageId }: SQSRecord, context: Context): Promise<void> => {
    let message: TaskMessageBody | undefined;
    try {
      message = TaskMessageBody.parse(JSON.parse(body));
      await handle(deps, message, context);
    } catch (error) {
      telemetry.logger.error('task failed', { messageId, ...(message && idsOf(message)), ...describeError(error) });
      telemetry.count('TaskFailed');
      throw error;
    }
  };

  return middy((event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    processPartialResponse(event, (record: SQSRecord) => handleRecord(record, context), processor, {
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

const idsOf = (message: TaskMessageBody) =>
  message.kind === 'expand'
    ? { dispatchId: message.dispatchId, batch: message.batch }
    : { dispatchId: message.dispatchId, task: message.task };

const handle = (deps: CarryOutTaskHandlerDeps, message: TaskMessageBody, context: Context): Promise<void> => {
  const { dispatchId } = message;
  switch (message.kind) {
    case 'expand':
      return expand(deps, { dispatchId, batch: message.batch });
    case 'carry-out':
      return carryOut(deps, { dispatchId, task: message.task }, context);
  }
};

const expand = async ({ expandBatch, telemetry }: CarryOutTaskHandlerDeps, key: BatchKey): Promise<void> => {
  const outcome = await expandBatch(key);
  telemetry.logger.info('batch expanded', { ...key, outcome });
  if (outcome === 'expanded') telemetry.count('BatchExpanded');
};

const carryOut = async (
  { carryOutTask, taskQueue, telemetry: { logger, count } }: CarryOutTaskHandlerDeps,
  key: TaskKey,
  context: Context,
): Promise<void> => {
  const report = await carryOutTask(key, () => context.getRemainingTimeInMillis());
  const { outcome, cancelled, reopened, enqueued, exported, broken } = report;
  logger.info('task carried out', { ...key, ...report });
  if (broken > 0) logger.error('rows that cannot be read', { ...key, broken });
  for (const [name, by] of Object.entries({
    RecipientCancelled: cancelled,
    RecipientReopened: reopened,
    RecipientEnqueuedAgain: enqueued,
    RecipientExported: exported,
    RecipientBroken: broken,
    TaskDone: outcome === 'done' ? 1 : 0,
  })) {
    if (by > 0) count(name, by);
  }
  if (outcome !== 'more') return;
  // Sent before the message in hand is let go of: two messages do no harm, none would.
  const [isSent] = await taskQueue.carryOut([key]);
  if (isSent !== true) throw new TaskNotHandedOnError('the queue did not take the message');
};
