import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { SQSClient } from '@aws-sdk/client-sqs';

import { createSendQueue } from '../../lambda/adapters/sqs/send-queue.ts';
import { createTaskQueue } from '../../lambda/adapters/sqs/task-queue.ts';
import { relayOutbox } from '../../lambda/application/relay/relay-outbox.ts';
import { interpret } from '../../lambda/handlers/relay-outbox/handler.ts';
import type { GiveBack } from './replay.ts';

/** Where the messages of relayed records go. */
export interface RelayTargets {
  readonly sqs: SQSClient;
  readonly sendQueueUrl: string;
  readonly taskQueueUrl: string;
}

/** Relays records the way the relay itself does; a message that was sent before does no harm. */
export const relayRecords =
  ({ sqs, sendQueueUrl, taskQueueUrl }: RelayTargets): GiveBack =>
  async (records) => {
    const deps = { client: sqs, newId: randomUUID, clock: Date.now, random: Math.random, sleep };
    let unknown = 0;
    const open = await relayOutbox(
      {
        sendQueue: createSendQueue({ ...deps, queueUrl: sendQueueUrl }),
        taskQueue: createTaskQueue({ ...deps, queueUrl: taskQueueUrl }),
        quarantine: () => {
          unknown += 1;
          return Promise.resolve();
        },
      },
      records.map((record) => interpret(record)),
    );
    if (unknown > 0) return `${unknown} of its ${records.length} records cannot be understood`;
    return open === undefined ? undefined : 'its queue did not take every message';
  };
