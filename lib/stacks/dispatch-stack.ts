import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

import { scaleOf, type StageSettings } from '../config/stages.ts';
import { DispatchEventBus } from '../constructs/dispatch-event-bus.ts';
import type { DispatchTable } from '../constructs/dispatch-table.ts';
import { ExportBucket } from '../constructs/export-bucket.ts';
import type { ListBucket } from '../constructs/list-bucket.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import { SesFeedback } from '../constructs/ses-feedback.ts';
import { WorkerQueue } from '../constructs/worker-queue.ts';
import type { MonitoredResources } from '../monitoring/monitored-resources.ts';
import { addApi } from './dispatch/add-api.ts';
import { addResolver } from './dispatch/add-resolver.ts';
import { addSender } from './dispatch/add-sender.ts';
import { addProgress, addRelay } from './dispatch/add-stream-consumers.ts';
import { addWidget } from './dispatch/add-widget.ts';
import { addFeedback, addSweeper, addTaskWorker, TASK_TIMEOUT } from './dispatch/add-workers.ts';
import type { SharedResources } from './dispatch/shared-resources.ts';

export interface DispatchStackProps extends StackProps {
  readonly stage: StageSettings;
  readonly table: DispatchTable;
  /** Long lists of recipients and large content. */
  readonly lists: ListBucket;
  /** Where stream records go that could not be handled. */
  readonly failures: Bucket;
  /** Where the files of exports go. */
  readonly exports: Bucket;
}

/** What can be rebuilt: API, followers of the stream, queues, senders, recovery, events of SES, news for others. */
export class DispatchStack extends Stack {
  /** What people are told about. */
  readonly monitored: MonitoredResources;

  constructor(scope: Construct, id: string, { stage, table, lists, failures, exports, ...props }: DispatchStackProps) {
    super(scope, id, props);
    const sends = addSends(this, stage);
    const tasks = addTasks(this);
    const events = new SesFeedback(this, 'Events', {
      timeout: Duration.seconds(stage.feedbackTimeoutSeconds),
      visibility: Duration.seconds(stage.feedbackVisibilitySeconds),
      retainData: stage.retainData,
    });
    const news = new DispatchEventBus(this, 'News');
    const own = { exports: new ExportBucket(exports), sends, tasks, events, news };
    const shared: SharedResources = { stage, scale: scaleOf(stage), table, lists, failures, ...own };

    const api = addApi(this, shared);
    const streams = [addRelay(this, shared), addProgress(this, shared)];
    const sender = addSender(this, shared);
    const others = [addTaskWorker(this, shared), addFeedback(this, shared), addSweeper(this, shared), addResolver(this, shared)];
    const widget = addWidget(this, shared);
    this.monitored = {
      api: api.api,
      sends,
      tasks,
      feedback: events.feedback,
      sender,
      widget,
      streams,
      background: [sender, ...streams.map(({ consumer }) => consumer), ...others],
      functions: this.node.findAll().filter((each) => each instanceof ServiceFunction),
    };
    this.#tell({ ApiUrl: api.url, EventBusName: news.name });
    this.#tellQueues({ Send: sends, Task: tasks, Feedback: events.feedback });
    this.#tell({ ConfigurationSetName: events.configurationSet.configurationSetName });
  }

  #tell(outputs: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }

  #tellQueues(queues: Readonly<Record<string, WorkerQueue>>): void {
    for (const [name, { queue, deadLetters }] of Object.entries(queues))
      this.#tell({ [`${name}QueueUrl`]: queue.queueUrl, [`${name}DeadLetterQueueUrl`]: deadLetters.queueUrl });
  }
}

const addSends = (scope: Construct, stage: StageSettings): WorkerQueue =>
  new WorkerQueue(scope, 'Sends', {
    consumerTimeout: Duration.seconds(stage.functionTimeoutSeconds),
    visibility: Duration.seconds(stage.visibilitySeconds),
    plannedAttempts: stage.attemptsPerRound,
    whenGivenUp: {
      impact: 'Some recipients did not get their mail, and nothing tries again until a person does.',
      runbook: 'send-dead-letters',
    },
  });

const addTasks = (scope: Construct): WorkerQueue =>
  new WorkerQueue(scope, 'Tasks', {
    consumerTimeout: TASK_TIMEOUT,
    plannedAttempts: 7,
    whenGivenUp: {
      impact: 'Part of a large dispatch is not even waiting to be sent, or a cancelled or resumed one is left half-way.',
      runbook: 'task-dead-letters',
    },
  });
