import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';

import type { ApplyFeedbackEnvVars } from '../../../lambda/handlers/apply-feedback/env.ts';
import type { CarryOutTaskEnvVars } from '../../../lambda/handlers/carry-out-task/env.ts';
import type { SweepEnvVars } from '../../../lambda/handlers/sweep/env.ts';
import { OPEN_INDEX } from '../../constructs/dispatch-table.ts';
import { ServiceFunction } from '../../constructs/service-function.ts';
import { grantReadQuota } from '../../constructs/ses-rights.ts';
import { redeliverySeconds } from '../../config/time-order.ts';
import type { Parts } from './parts.ts';

/** 1,000 recipients are put in a few seconds; the rest is for a table that throttles, and for tasks that go on for long. */
export const TASK_TIMEOUT = Duration.seconds(60);

/** The function that carries out long work on a dispatch. */
export const addTaskWorker = (
  scope: Construct,
  { stage, scale, table, lists, sends, tasks, exports }: Parts,
): ServiceFunction => {
  const worker = new ServiceFunction(scope, 'CarryOutTask', {
    handler: 'carry-out-task',
    timeout: TASK_TIMEOUT,
    memoryMegabytes: 1_024,
    kept: stage.kept,
    reservedConcurrency: scale.taskWorkers,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      SEND_QUEUE_URL: sends.queue.queueUrl,
      TASK_QUEUE_URL: tasks.queue.queueUrl,
      EXPORT_BUCKET: exports.name,
      LIST_BUCKET: lists.name,
      RETENTION_DAYS: String(stage.retentionDays),
    } satisfies CarryOutTaskEnvVars,
  });
  table.grantCarryOut(worker);
  lists.grantExpand(worker);
  exports.grantWrite(worker);
  sends.grantSend(worker);
  tasks.grantSend(worker);
  tasks.grantHide(worker);
  // One task a call, so that one that fails takes no other with it; few at once leave the table to the senders.
  tasks.feed(worker, { batchSize: 1, maxConcurrency: scale.taskWorkers });
  return worker;
};

/** The function that applies what SES tells of mails. */
export const addFeedback = (scope: Construct, { stage, scale, table, events }: Parts): ServiceFunction => {
  const { batchSize, concurrency, memoryMegabytes, windowSeconds } = scale.feedback;
  const feedback = new ServiceFunction(scope, 'ApplyFeedback', {
    handler: 'apply-feedback',
    timeout: Duration.seconds(stage.feedbackTimeoutSeconds),
    memoryMegabytes,
    kept: stage.kept,
    // A throttled invocation would make an event late that then makes feedback look behind.
    reservedConcurrency: concurrency,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      RETENTION_DAYS: String(stage.retentionDays),
      BEHIND_AFTER_SECONDS: String(stage.behindAfterSeconds),
      FEEDBACK_REDELIVERY_SECONDS: String(redeliverySeconds(stage, windowSeconds)),
    } satisfies ApplyFeedbackEnvVars,
  });
  table.grantFeedback(feedback);
  const window = windowSeconds === 0 ? {} : { window: Duration.seconds(windowSeconds) };
  events.feedback.feed(feedback, { batchSize, maxConcurrency: concurrency, ...window });
  return feedback;
};

/** The function that recovers what got stuck. */
export const addSweeper = (scope: Construct, { stage, table, lists, sends, tasks }: Parts): ServiceFunction => {
  const sweeper = new ServiceFunction(scope, 'Sweep', {
    handler: 'sweep',
    // Less than the time between two passes, so that passes do not pile up.
    timeout: Duration.minutes(4),
    memoryMegabytes: 512,
    kept: stage.kept,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      TABLE_ID: table.tableId,
      LIST_BUCKET: lists.name,
      OPEN_INDEX,
      SEND_QUEUE_URL: sends.queue.queueUrl,
      TASK_QUEUE_URL: tasks.queue.queueUrl,
      STILL_SECONDS: String(stage.stillSeconds),
      VISIT_SECONDS: String(stage.visitSeconds),
      RETENTION_DAYS: String(stage.retentionDays),
    } satisfies SweepEnvVars,
  });
  table.grantSweep(sweeper);
  lists.grantSweep(sweeper);
  grantReadQuota(sweeper);
  sends.grantSend(sweeper);
  sends.grantCount(sweeper);
  tasks.grantSend(sweeper);
  new Rule(scope, 'SweepRegularly', {
    schedule: Schedule.rate(Duration.minutes(5)),
    targets: [new LambdaTarget(sweeper.lambda)],
  });
  return sweeper;
};
