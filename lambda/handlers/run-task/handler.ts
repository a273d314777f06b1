import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

import type { BatchKey, TaskKey, TaskQueue } from '../../application/ports/queues.ts';
import type { ExpandBatch, Expansion } from '../../application/tasks/expand-batch.ts';
import type { RunTask } from '../../application/tasks/run-task.ts';
import { TaskMessageBody } from '../../contracts/queue/queue-messages.ts';
import { redactError } from '../../observability/redact-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface RunTaskHandlerDeps {
  readonly expandBatch: ExpandBatch;
  readonly runTask: RunTask;
  readonly taskQueue: TaskQueue;
  /** Makes a message visible again after a time, instead of the queue's own; never throws. */
  readonly hide: (receiptHandle: string, seconds: number) => Promise<void>;
  /** Whether the same work may succeed later without anybody's help. */
  readonly isTransient: (error: unknown) => boolean;
  readonly telemetry: Telemetry;
}

/** Thrown when a task that must go on could not be given its next message; the one in hand comes again instead. */
export class TaskNotHandedOnError extends Error {
  override readonly name = 'TaskNotHandedOnError';
}

/** After trouble that passes a task goes on so much later. */
const POSTPONED_SECONDS = 15;
/** Kept back to hand on what there is no time for; one throttled call may take some seconds. */
const RESERVE_MS = 15_000;

/** One task after the other; trouble that passes postpones a task, any other lets its message fail. */
export const createHandler = (deps: RunTaskHandlerDeps) => {
  const { telemetry } = deps;
  const processor = new BatchProcessor(EventType.SQS);

  const handleRecord = async ({ body, messageId, receiptHandle }: SQSRecord, context: Context): Promise<void> => {
    let message: TaskMessageBody | undefined;
    try {
      message = TaskMessageBody.parse(JSON.parse(body));
      await handle(deps, message, receiptHandle, context);
    } catch (error) {
      telemetry.logger.error('task failed', { messageId, ...(message && idsOf(message)), ...redactError(error) });
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

const handle = async (
  deps: RunTaskHandlerDeps,
  message: TaskMessageBody,
  receiptHandle: string,
  context: Context,
): Promise<void> => {
  const { logger, count } = deps.telemetry;
  let next: Next;
  try {
    next = await carryOn(deps, message, context);
  } catch (error) {
    if (!deps.isTransient(error)) throw error;
    logger.warn('task postponed', { ...idsOf(message), ...redactError(error) });
    next = 'later';
  }
  if (next === 'done') return;
  if (next === 'later') count('TaskPostponed');
  await handOn(deps, message, receiptHandle, next === 'later' ? POSTPONED_SECONDS : 0);
};

/** `later`: the table or the store needs a moment. */
type Next = 'done' | 'now' | 'later';

const carryOn = (deps: RunTaskHandlerDeps, message: TaskMessageBody, context: Context): Promise<Next> => {
  const { dispatchId } = message;
  switch (message.kind) {
    case 'expand':
      return expand(deps, { dispatchId, batch: message.batch }, context);
    case 'run':
      return enqueueTasks(deps, { dispatchId, task: message.task }, context);
  }
};

/** By a fresh message: however long the trouble lasts, no message runs out of receives. Two messages do no harm, none would. */
const handOn = async (
  { taskQueue, hide }: RunTaskHandlerDeps,
  message: TaskMessageBody,
  receiptHandle: string,
  delaySeconds: number,
): Promise<void> => {
  const { dispatchId } = message;
  const [isSent] =
    message.kind === 'expand'
      ? await taskQueue.expand([{ dispatchId, batch: message.batch }], delaySeconds)
      : await taskQueue.enqueueTasks([{ dispatchId, task: message.task }], delaySeconds);
  if (isSent === true) return;
  await hide(receiptHandle, POSTPONED_SECONDS);
  throw new TaskNotHandedOnError('the queue did not take the message');
};

/** The metric of each outcome that is worth one. */
const EXPANSION_METRICS: Readonly<Partial<Record<Expansion, string>>> = {
  expanded: 'BatchExpanded',
  stopped: 'DispatchStopped',
};

const expand = async (
  { expandBatch, telemetry: { logger, count } }: RunTaskHandlerDeps,
  key: BatchKey,
  context: Context,
): Promise<Next> => {
  const outcome = await expandBatch(key, () => context.getRemainingTimeInMillis() > RESERVE_MS);
  const isTrouble = outcome === 'stopped' || outcome === 'unreadable';
  logger[isTrouble ? 'error' : 'info']('batch expanded', { ...key, outcome });
  const metric = EXPANSION_METRICS[outcome];
  if (metric !== undefined) count(metric);
  return outcome === 'postponed' ? 'later' : 'done';
};

const enqueueTasks = async (
  { runTask, telemetry: { logger, count } }: RunTaskHandlerDeps,
  key: TaskKey,
  context: Context,
): Promise<Next> => {
  const report = await runTask(key, () => context.getRemainingTimeInMillis());
  const { outcome, cancelled, reopened, settled, enqueued, exported, broken } = report;
  logger.info('task run', { ...key, ...report });
  if (broken > 0) logger.error('rows that cannot be read', { ...key, broken });
  for (const [name, by] of Object.entries({
    RecipientCancelled: cancelled,
    RecipientReopened: reopened,
    RecipientSettledByHand: settled,
    RecipientEnqueuedAgain: enqueued,
    RecipientExported: exported,
    RecipientBroken: broken,
    TaskDone: outcome === 'done' ? 1 : 0,
  })) {
    if (by > 0) count(name, by);
  }
  return outcome === 'more' ? 'now' : 'done';
};
