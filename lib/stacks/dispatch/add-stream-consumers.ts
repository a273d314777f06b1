import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

import { BATCH_PREFIX, RECIPIENT_PREFIX, TASK_PREFIX } from '../../../lambda/contracts/table-keys.ts';
import type { FollowProgressEnvVars } from '../../../lambda/handlers/follow-progress/env.ts';
import type { RelayOutboxEnvVars } from '../../../lambda/handlers/relay-outbox/env.ts';
import { ServiceFunction } from '../../constructs/service-function.ts';
import { StreamConsumer } from '../../constructs/stream-consumer.ts';
import type { SharedResources } from './shared-resources.ts';

const startsWith = (...prefixes: string[]) => ({ S: prefixes.map((prefix) => ({ prefix })) });
const is = (...values: string[]) => ({ S: values });

/** A new recipient, batch or task; and a recipient that was final and is to be sent again. */
const RELAYED = [
  { eventName: ['INSERT'], dynamodb: { Keys: { sk: startsWith(RECIPIENT_PREFIX, BATCH_PREFIX, TASK_PREFIX) } } },
  {
    eventName: ['MODIFY'],
    dynamodb: {
      Keys: { sk: startsWith(RECIPIENT_PREFIX) },
      OldImage: { status: is('FAILED', 'UNKNOWN') },
      NewImage: { status: is('PENDING') },
    },
  },
];

/** The table's stream as outbox: every write that asks for a message reaches the relay. */
export const addRelay = (scope: Construct, { stage, scale, table, failures, sends, tasks }: SharedResources): StreamConsumer => {
  const relay = new ServiceFunction(scope, 'RelayOutbox', {
    handler: 'relay-outbox',
    timeout: Duration.seconds(60),
    memoryMegabytes: 512,
    retainData: stage.retainData,
    environment: {
      STAGE: stage.name,
      SEND_QUEUE_URL: sends.queue.queueUrl,
      TASK_QUEUE_URL: tasks.queue.queueUrl,
      FAILURE_BUCKET: failures.bucketName,
    } satisfies RelayOutboxEnvVars,
  });
  sends.grantSend(relay);
  tasks.grantSend(relay);
  return new StreamConsumer(scope, 'Outbox', {
    table,
    consumer: relay,
    patterns: RELAYED,
    failures,
    parallelizationFactor: scale.relayFactor,
    whenLate: {
      severity: 'page',
      impact: 'RelayOutbox is minutes behind the table: accepted mails wait, and after a day their records are gone.',
      runbook: 'stream-late',
    },
    whenGivenUp: {
      impact: 'RelayOutbox gave up on changes of the table: they wait in a bucket for a person.',
      runbook: 'records-not-relayed',
    },
    whenLost: {
      impact:
        'RelayOutbox gave up on changes of the table, and they are lost: only recovery sends those mails, ten minutes late.',
      runbook: 'records-lost',
    },
  });
};

/** What changed of a recipient; a dispatch that ended or was stopped, or whose result changed after that; and the end of a task. */
const COUNTED = [
  {
    eventName: ['MODIFY'],
    dynamodb: { Keys: { sk: startsWith(RECIPIENT_PREFIX) }, NewImage: { status: { S: [{ exists: true }] } } },
  },
  {
    eventName: ['MODIFY'],
    dynamodb: { Keys: { sk: is('DISPATCH') }, NewImage: { status: is('COMPLETED', 'STOPPED', 'CANCELLED') } },
  },
  {
    eventName: ['MODIFY'],
    dynamodb: { Keys: { sk: startsWith(TASK_PREFIX) }, NewImage: { kind: is('retry', 'resume'), state: is('done') } },
  },
];

/** The table's stream once more, for what is merely nice: counts, an early end of dispatches, and news for others. */
export const addProgress = (scope: Construct, { stage, scale, table, failures, news }: SharedResources): StreamConsumer => {
  const progress = new ServiceFunction(scope, 'FollowProgress', {
    handler: 'follow-progress',
    // Time to count all rows of a large dispatch exactly.
    timeout: Duration.seconds(60),
    memoryMegabytes: 512,
    retainData: stage.retainData,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      EVENT_BUS_NAME: news.name,
      RETENTION_DAYS: String(stage.retentionDays),
    } satisfies FollowProgressEnvVars,
  });
  table.grantProgress(progress);
  news.grantPublish(progress);
  return new StreamConsumer(scope, 'Progress', {
    table,
    consumer: progress,
    patterns: COUNTED,
    failures,
    parallelizationFactor: scale.progressFactor,
    // The more changes are added at once, the fewer are the writes of one dispatch's item.
    window: Duration.seconds(stage.progressWindowSeconds),
    whenLate: {
      severity: 'notice',
      impact: 'Mails go out as ever, but the counts of large dispatches are minutes old, and others hear late of dispatches.',
      runbook: 'stream-late',
    },
    whenGivenUp: {
      impact: 'Mails go out as ever, but some changes are not counted yet, and others may not have heard of a dispatch.',
      runbook: 'records-not-counted',
    },
    whenLost: {
      impact:
        'FollowProgress gave up on changes of the table, and they are lost: other systems may never hear how a dispatch ended.',
      runbook: 'records-lost',
    },
  });
};
