import { CfnOutput, Duration, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

import type { AcceptDispatchEnvVars } from '../../lambda/handlers/accept-dispatch/env.ts';
import type { ApplyFeedbackEnvVars } from '../../lambda/handlers/apply-feedback/env.ts';
import type { CarryOutTaskEnvVars } from '../../lambda/handlers/carry-out-task/env.ts';
import type { OperateDispatchesEnvVars } from '../../lambda/handlers/operate-dispatches/env.ts';
import type { OperateSendingEnvVars } from '../../lambda/handlers/operate-sending/env.ts';
import type { ReadDispatchesEnvVars } from '../../lambda/handlers/read-dispatches/env.ts';
import type { RelayOutboxEnvVars } from '../../lambda/handlers/relay-outbox/env.ts';
import type { SendRecipientsEnvVars } from '../../lambda/handlers/send-recipients/env.ts';
import type { SweepEnvVars } from '../../lambda/handlers/sweep/env.ts';
import { BY_ADMIN_INDEX, type DispatchTable, OPEN_INDEX } from '../constructs/dispatch-table.ts';
import { EventIntake } from '../constructs/event-intake.ts';
import { ExportBucket } from '../constructs/export-bucket.ts';
import { type Endpoint, HttpEntry } from '../constructs/http-entry.ts';
import { OutboxRelay } from '../constructs/outbox-relay.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import { grantReadQuota, grantReadTemplates, grantSendMail } from '../constructs/ses-rights.ts';
import { WorkerQueue } from '../constructs/worker-queue.ts';
import { sendingScale } from '../sending-scale.ts';
import type { StageSettings } from '../stages.ts';
import type { Watched, WatchedStream } from '../watch/watched.ts';

export interface DispatchStackProps extends StackProps {
  readonly stage: StageSettings;
  readonly table: DispatchTable;
  /** Where stream records go that cannot be relayed. */
  readonly failures: Bucket;
  /** Where the files of exports go. */
  readonly exports: Bucket;
}

/** An HTTP API gives up after 30 s; the function must be the first to. */
const API_TIMEOUT = Duration.seconds(29);

/** 1,000 recipients are put in a few seconds; the rest is for a table that throttles, and for tasks that go on for long. */
const TASK_TIMEOUT = Duration.seconds(60);

const ABOUT_THE_ACCOUNT = {
  id: 'AwsSolutions-IAM5[Resource::*]',
  reason: 'ses:GetAccount is about the account as a whole and knows no narrower resource.',
};

/** Who may look. */
const READERS = ['mail:read', 'mail:operate'];

/** What can be rebuilt: API, relay, queues, senders, recovery, events of SES. */
export class DispatchStack extends Stack {
  /** What people are told about. */
  readonly watched: Watched;

  readonly #stage: StageSettings;
  readonly #table: DispatchTable;
  readonly #sends: WorkerQueue;
  readonly #tasks: WorkerQueue;
  readonly #events: EventIntake;
  readonly #exports: ExportBucket;

  constructor(scope: Construct, id: string, { stage, table, failures, exports, ...props }: DispatchStackProps) {
    super(scope, id, props);
    this.#stage = stage;
    this.#table = table;
    this.#exports = new ExportBucket(exports);

    this.#sends = new WorkerQueue(this, 'Sends', {
      consumerTimeout: Duration.seconds(stage.functionTimeoutSeconds),
      visibility: Duration.seconds(stage.visibilitySeconds),
      plannedAttempts: stage.attemptsPerRound,
      whenGivenUp: {
        impact: 'Some recipients did not get their mail, and nothing tries again until a person does.',
        runbook: 'send-dead-letters',
      },
    });
    this.#tasks = new WorkerQueue(this, 'Tasks', {
      consumerTimeout: TASK_TIMEOUT,
      plannedAttempts: 7,
      whenGivenUp: {
        impact: 'Part of a large dispatch is not even waiting to be sent, or a cancelled or resumed one is left half-way.',
        runbook: 'task-dead-letters',
      },
    });
    this.#events = new EventIntake(this, 'Events', {
      timeout: Duration.seconds(stage.feedbackTimeoutSeconds),
      visibility: Duration.seconds(stage.feedbackVisibilitySeconds),
      kept: stage.kept,
    });

    const api = this.#addApi();
    const relay = this.#addRelay(failures);
    const sender = this.#addSender();
    const others = [this.#addTaskWorker(), this.#addFeedback(), this.#addSweeper()];
    this.watched = {
      api: api.api,
      sends: this.#sends,
      tasks: this.#tasks,
      feedback: this.#events.feedback,
      sender,
      streams: [relay],
      background: [sender, relay.follower, ...others],
      functions: this.node.findAll().filter((each) => each instanceof ServiceFunction),
    };

    new CfnOutput(this, 'ApiUrl', { value: api.url });
    new CfnOutput(this, 'SendQueueUrl', { value: this.#sends.queue.queueUrl });
    new CfnOutput(this, 'SendDeadLetterQueueUrl', { value: this.#sends.deadLetters.queueUrl });
    new CfnOutput(this, 'TaskQueueUrl', { value: this.#tasks.queue.queueUrl });
    new CfnOutput(this, 'TaskDeadLetterQueueUrl', { value: this.#tasks.deadLetters.queueUrl });
    new CfnOutput(this, 'FeedbackQueueUrl', { value: this.#events.feedback.queue.queueUrl });
    new CfnOutput(this, 'FeedbackDeadLetterQueueUrl', { value: this.#events.feedback.deadLetters.queueUrl });
    new CfnOutput(this, 'ConfigurationSetName', { value: this.#events.configurationSet.configurationSetName });
  }

  #addApi(): HttpEntry {
    const { kept, issuer, audience, templatePrefix, fromAddress, replyToAddress, repeatGuardSeconds, maxSendRate } = this.#stage;
    const accept = new ServiceFunction(this, 'AcceptDispatch', {
      handler: 'accept-dispatch',
      timeout: API_TIMEOUT,
      // 50,000 recipients are unpacked, checked and packed again within one request: a whole processor and room.
      memoryMegabytes: 2_048,
      kept,
      environment: {
        TABLE_NAME: this.#table.table.tableName,
        TEMPLATE_PREFIX: templatePrefix,
        FROM_ADDRESS: fromAddress,
        REPLY_TO_ADDRESS: replyToAddress,
        REPEAT_GUARD_SECONDS: String(repeatGuardSeconds),
        SEND_QUEUE_URL: this.#sends.queue.queueUrl,
        MAX_SEND_RATE: String(maxSendRate),
      } satisfies AcceptDispatchEnvVars,
    });
    this.#table.grantAccept(accept);
    grantReadTemplates(accept, templatePrefix);
    grantReadQuota(accept);
    this.#sends.grantCount(accept);
    Validations.of(accept).acknowledge(
      {
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:template/${templatePrefix}*]`,
        reason: 'Scenarios come and go without a deployment; the prefix of their templates is all that is known of them here.',
      },
      ABOUT_THE_ACCOUNT,
    );

    const read = new ServiceFunction(this, 'ReadDispatches', {
      handler: 'read-dispatches',
      timeout: Duration.seconds(20),
      memoryMegabytes: 512,
      kept,
      environment: {
        TABLE_NAME: this.#table.table.tableName,
        BY_ADMIN_INDEX,
        OPEN_INDEX,
        EXPORT_BUCKET: this.#exports.name,
      } satisfies ReadDispatchesEnvVars,
    });
    this.#table.grantRead(read);
    this.#table.grantList(read);
    this.#exports.grantFetch(read);

    return new HttpEntry(this, 'Http', {
      issuer,
      audience,
      kept,
      endpoints: {
        ...this.#addOperations(),
        Accept: {
          handler: accept,
          routes: [
            { method: HttpMethod.POST, path: '/dispatches', scopes: ['mail:send'] },
            { method: HttpMethod.POST, path: '/dispatches/preview', scopes: ['mail:send'] },
          ],
        },
        Read: {
          handler: read,
          routes: [
            '/dispatches',
            '/dispatches/{dispatchId}',
            '/dispatches/{dispatchId}/recipients',
            '/dispatches/{dispatchId}/recipients/{applyId}',
            '/dispatches/{dispatchId}/exports/{export}',
          ].map((path) => ({ method: HttpMethod.GET, path, scopes: READERS })),
        },
      },
    });
  }

  /** What people do to dispatches, and to sending as a whole. */
  #addOperations(): Record<string, Endpoint> {
    const common = { timeout: Duration.seconds(20), memoryMegabytes: 512, kept: this.#stage.kept };
    const dispatches = new ServiceFunction(this, 'OperateDispatches', {
      ...common,
      handler: 'operate-dispatches',
      environment: {
        TABLE_NAME: this.#table.table.tableName,
        RETENTION_DAYS: String(this.#stage.retentionDays),
      } satisfies OperateDispatchesEnvVars,
    });
    this.#table.grantOperate(dispatches);
    const sending = new ServiceFunction(this, 'OperateSending', {
      ...common,
      handler: 'operate-sending',
      environment: { TABLE_NAME: this.#table.table.tableName } satisfies OperateSendingEnvVars,
    });
    this.#table.grantPause(sending);

    // One's own dispatches may be cancelled by whoever may send them; which are whose, the function knows.
    const senders = ['mail:send', 'mail:operate'];
    const operators = ['mail:operate'];
    return {
      OperateDispatches: {
        handler: dispatches,
        routes: [
          { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/cancel', scopes: senders },
          { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/resume', scopes: senders },
          { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/retry', scopes: senders },
          { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/recipients/{applyId}/settle', scopes: senders },
          { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/exports', scopes: READERS },
        ],
      },
      OperateSending: {
        handler: sending,
        routes: [
          { method: HttpMethod.GET, path: '/sending', scopes: operators },
          { method: HttpMethod.PUT, path: '/sending', scopes: operators },
        ],
      },
    };
  }

  #addRelay(failures: Bucket): WatchedStream {
    const relay = new ServiceFunction(this, 'RelayOutbox', {
      handler: 'relay-outbox',
      timeout: Duration.seconds(60),
      memoryMegabytes: 512,
      kept: this.#stage.kept,
      environment: {
        SEND_QUEUE_URL: this.#sends.queue.queueUrl,
        TASK_QUEUE_URL: this.#tasks.queue.queueUrl,
        FAILURE_BUCKET: failures.bucketName,
      } satisfies RelayOutboxEnvVars,
    });
    this.#sends.grantSend(relay);
    this.#tasks.grantSend(relay);
    const { mapping } = new OutboxRelay(this, 'Outbox', { table: this.#table, relay, failures });
    return { follower: relay, mapping };
  }

  #addTaskWorker(): ServiceFunction {
    const worker = new ServiceFunction(this, 'CarryOutTask', {
      handler: 'carry-out-task',
      timeout: TASK_TIMEOUT,
      memoryMegabytes: 1_024,
      kept: this.#stage.kept,
      environment: {
        TABLE_NAME: this.#table.table.tableName,
        SEND_QUEUE_URL: this.#sends.queue.queueUrl,
        TASK_QUEUE_URL: this.#tasks.queue.queueUrl,
        EXPORT_BUCKET: this.#exports.name,
        RETENTION_DAYS: String(this.#stage.retentionDays),
      } satisfies CarryOutTaskEnvVars,
    });
    this.#table.grantCarryOut(worker);
    this.#exports.grantWrite(worker);
    this.#sends.grantSend(worker);
    this.#tasks.grantSend(worker);
    // One task a call, so that one that fails takes no other with it; two at once leave the table to the senders.
    this.#tasks.feed(worker, { batchSize: 1, maxConcurrency: 2 });
    return worker;
  }

  #addSender(): ServiceFunction {
    const stage = this.#stage;
    const { batchSize, maxConcurrency } = sendingScale(stage);
    const sender = new ServiceFunction(this, 'SendRecipients', {
      handler: 'send-recipients',
      timeout: Duration.seconds(stage.functionTimeoutSeconds),
      memoryMegabytes: 1_024,
      kept: stage.kept,
      // A throttled invocation uses up a receive without running; so what the queue may start is set aside.
      reservedConcurrency: maxConcurrency,
      environment: {
        TABLE_NAME: this.#table.table.tableName,
        SEND_QUEUE_URL: this.#sends.queue.queueUrl,
        CONFIGURATION_SET: this.#events.configurationSet.configurationSetName,
        LEASE_SECONDS: String(stage.leaseSeconds),
        SES_TIMEOUT_SECONDS: String(stage.sesTimeoutSeconds),
        ATTEMPTS_PER_ROUND: String(stage.attemptsPerRound),
        BACKOFF_BASE_SECONDS: String(stage.backoffBaseSeconds),
        BACKOFF_CAP_SECONDS: String(stage.backoffCapSeconds),
        MAX_RECEIVE_COUNT: String(this.#sends.maxReceiveCount),
        MAX_CONCURRENCY: String(maxConcurrency),
        PARALLEL_CALLS: String(stage.parallelCalls),
        MAX_SEND_RATE: String(stage.maxSendRate),
        UNCLEAR_POLICY: stage.unclearPolicy,
        WITNESS_MARGIN_SECONDS: String(stage.witnessMarginSeconds),
        FEEDBACK_REDELIVERY_SECONDS: String(stage.feedbackVisibilitySeconds + stage.feedbackTimeoutSeconds),
        HOLD_AFTER_SECONDS: String(stage.holdAfterSeconds),
        PAUSE_BASE_SECONDS: String(stage.pauseBaseSeconds),
        PAUSE_CAP_SECONDS: String(stage.pauseCapSeconds),
        PAUSE_LOOK_SECONDS: String(stage.pauseLookSeconds),
        FROM_ADDRESS: stage.fromAddress,
        RETENTION_DAYS: String(stage.retentionDays),
      } satisfies SendRecipientsEnvVars,
    });
    this.#table.grantSend(sender);
    this.#sends.grantSend(sender);
    this.#sends.grantHide(sender);
    grantSendMail(sender, stage.fromAddress, this.#events.configurationSet);
    grantReadQuota(sender);
    Validations.of(sender).acknowledge(ABOUT_THE_ACCOUNT);
    this.#sends.feed(sender, { batchSize, maxConcurrency });
    return sender;
  }

  #addFeedback(): ServiceFunction {
    const { kept, feedbackTimeoutSeconds, retentionDays } = this.#stage;
    const feedback = new ServiceFunction(this, 'ApplyFeedback', {
      handler: 'apply-feedback',
      timeout: Duration.seconds(feedbackTimeoutSeconds),
      memoryMegabytes: 512,
      kept,
      environment: {
        TABLE_NAME: this.#table.table.tableName,
        RETENTION_DAYS: String(retentionDays),
      } satisfies ApplyFeedbackEnvVars,
    });
    this.#table.grantFeedback(feedback);
    // A batch is applied all at once, and five of them keep up with some hundred mails a second.
    this.#events.feedback.feed(feedback, { batchSize: 10, maxConcurrency: 5 });
    return feedback;
  }

  #addSweeper(): ServiceFunction {
    const stage = this.#stage;
    const sweeper = new ServiceFunction(this, 'Sweep', {
      handler: 'sweep',
      // Less than the time between two passes, so that passes do not pile up.
      timeout: Duration.minutes(4),
      memoryMegabytes: 512,
      kept: stage.kept,
      environment: {
        TABLE_NAME: this.#table.table.tableName,
        OPEN_INDEX,
        SEND_QUEUE_URL: this.#sends.queue.queueUrl,
        TASK_QUEUE_URL: this.#tasks.queue.queueUrl,
        STILL_SECONDS: String(stage.stillSeconds),
        VISIT_SECONDS: String(stage.visitSeconds),
        RETENTION_DAYS: String(stage.retentionDays),
      } satisfies SweepEnvVars,
    });
    this.#table.grantSweep(sweeper);
    this.#sends.grantSend(sweeper);
    this.#sends.grantCount(sweeper);
    this.#tasks.grantSend(sweeper);
    new Rule(this, 'SweepRegularly', {
      schedule: Schedule.rate(Duration.minutes(5)),
      targets: [new LambdaTarget(sweeper.lambda)],
    });
    return sweeper;
  }
}
