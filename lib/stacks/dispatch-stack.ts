import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

import type { DispatchTable } from '../constructs/dispatch-table.ts';
import { EventIntake } from '../constructs/event-intake.ts';
import { ExportBucket } from '../constructs/export-bucket.ts';
import type { ListBucket } from '../constructs/list-bucket.ts';
import { NewsBus } from '../constructs/news-bus.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import { WorkerQueue } from '../constructs/worker-queue.ts';
import { scaleOf, type StageSettings } from '../config/stages.ts';
import type { Watched } from '../monitoring/watched.ts';
import { addApi } from './dispatch/add-api.ts';
import { addProgress, addRelay } from './dispatch/add-followers.ts';
import { addResolver } from './dispatch/add-resolver.ts';
import { addSender } from './dispatch/add-sender.ts';
import { addWidget } from './dispatch/add-widget.ts';
import { addFeedback, addSweeper, addTaskWorker, TASK_TIMEOUT } from './dispatch/add-workers.ts';
import type { Parts } from './dispatch/parts.ts';

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
  readonly watched: Watched;

  constructor(scope: Construct, id: string, { stage, table, lists, failures, exports, ...props }: DispatchStackProps) {
    super(scope, id, props);
    const sends = addSends(this, stage);
    const tasks = addTasks(this);
    const events = new EventIntake(this, 'Events', {
      timeout: Duration.seconds(stage.feedbackTimeoutSeconds),
      visibility: Duration.seconds(stage.feedbackVisibilitySeconds),
      kept: stage.kept,
    });
    const news = new NewsBus(this, 'News');
    const own = { exports: new ExportBucket(exports), sends, tasks, events, news };
    const parts: Parts = { stage, scale: scaleOf(stage), table, lists, failures, ...own };

    const api = addApi(this, parts);
    const streams = [addRelay(this, parts), addProgress(this, parts)];
    const sender = addSender(this, parts);
    const others = [addTaskWorker(this, parts), addFeedback(this, parts), addSweeper(this, parts), addResolver(this, parts)];
    const widget = addWidget(this, parts);
    this.watched = {
      api: api.api,
      sends,
      tasks,
      feedback: events.feedback,
      sender,
      widget,
      streams,
      background: [sender, ...streams.map(({ follower }) => follower), ...others],
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
