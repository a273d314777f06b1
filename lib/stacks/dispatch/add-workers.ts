import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';

import type { ApplyFeedbackEnvVars } from '../../../lambda/handlers/apply-feedback/env.ts';
import type { RunTaskEnvVars } from '../../../lambda/handlers/run-task/env.ts';
import type { SweepEnvVars } from '../../../lambda/handlers/sweep/env.ts';
import { redeliverySeconds } from '../../config/time-order.ts';
import { OPEN_INDEX } from '../../constructs/dispatch-table.ts';
import { ServiceFunction } from '../../constructs/service-function.ts';
import { grantReadQuota } from '../../constructs/ses-rights.ts';
import type { SharedResources } from './shared-resources.ts';

/** 1,000 recipients are put in a few seconds; the rest is for a table that throttles, and for tasks that go on for long. */
export const TASK_TIMEOUT = Duration.seconds(60);

/** The function that carries out long work on a dispatch. */
export const addTaskWorker = (
  scope: Construct,
  { stage, scale, table, lists, sends, tasks, exports }: SharedResources,
): ServiceFunction => {
  const worker = new ServiceFunction(scope, 'RunTask', {
    handler: 'run-task',
    timeout: TASK_TIMEOUT,
    memoryMegabytes: 1_024,
    retainData: stage.retainData,
    reservedConcurrency: scale.taskWorkers,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      SEND_QUEUE_URL: sends.queue.queueUrl,
      TASK_QUEUE_URL: tasks.queue.queueUrl,
      EXPORT_BUCKET: exports.name,
      LIST_BUCKET: lists.name,
      RETENTION_DAYS: String(stage.retentionDays),
    } satisfies RunTaskEnvVars,
  });
  table.grantRunTasks(worker);
  lists.grantExpand(worker);
  exports.grantWrite(worker);
  sends.grantSend(worker);
  tasks.grantSend(worker);
  tasks.grantChangeVisibility(worker);
  // One task a call, so that one that fails takes no other with it; few at once leave the table to the senders.
  tasks.addConsumer(worker, { batchSize: 1, maxConcurrency: scale.taskWorkers });
  return worker;
};

/** The function that applies what SES tells of mails. */
export const addFeedback = (scope: Construct, { stage, scale, table, events }: SharedResources): ServiceFunction => {
  const { batchSize, concurrency, memoryMegabytes, windowSeconds } = scale.feedback;
  const feedback = new ServiceFunction(scope, 'ApplyFeedback', {
    handler: 'apply-feedback',
    timeout: Duration.seconds(stage.feedbackTimeoutSeconds),
    memoryMegabytes,
    retainData: stage.retainData,
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
  events.feedback.addConsumer(feedback, { batchSize, maxConcurrency: concurrency, ...window });
  return feedback;
};

/** The function that recovers what got stuck. */
export const addSweeper = (scope: Construct, { stage, table, lists, sends, tasks }: SharedResources): ServiceFunction => {
  const sweeper = new ServiceFunction(scope, 'Sweep', {
    handler: 'sweep',
    // Less than the time between two passes, so that passes do not pile up.
    timeout: Duration.minutes(4),
    memoryMegabytes: 512,
    retainData: stage.retainData,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      TABLE_ID: table.tableId,
      LIST_BUCKET: lists.name,
      OPEN_INDEX,
      SEND_QUEUE_URL: sends.queue.queueUrl,
      TASK_QUEUE_URL: tasks.queue.queueUrl,
      STUCK_AFTER_SECONDS: String(stage.stuckAfterSeconds),
      REVISIT_SECONDS: String(stage.revisitSeconds),
      RETENTION_DAYS: String(stage.retentionDays),
    } satisfies SweepEnvVars,
  });
  table.grantSweep(sweeper);
  lists.grantSweep(sweeper);
  grantReadQuota(sweeper);
  sends.grantSend(sweeper);
  sends.grantReadDepth(sweeper);
  tasks.grantSend(sweeper);
  new Rule(scope, 'SweepRegularly', {
    schedule: Schedule.rate(Duration.minutes(5)),
    targets: [new LambdaTarget(sweeper.lambda)],
  });
  return sweeper;
};
