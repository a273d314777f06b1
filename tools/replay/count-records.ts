import { setTimeout as sleep } from 'node:timers/promises';

import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import { createProgressRepository } from '../../lambda/adapters/dynamo/dispatch/progress-repository.ts';
import { createEventPublisher } from '../../lambda/adapters/eventbridge/event-publisher.ts';
import { createFollowProgress } from '../../lambda/application/progress/follow-progress.ts';
import { interpret } from '../../lambda/handlers/follow-progress/handler.ts';
import type { GiveBack } from './replay.ts';

/** Where counts are kept and news are told. */
export interface ProgressTargets {
  readonly table: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly bus: EventBridgeClient;
  readonly busName: string;
}

/** No time to look at all rows of a dispatch: the sweeper does, and counts anew what is counted twice here. */
const NO_TIME = () => 0;

/** Counts and tells what progress could not; an event that was told before has the same id. */
export const countRecords = ({ table, tableName, bus, busName }: ProgressTargets): GiveBack => {
  const follow = createFollowProgress({
    // Only what completes dispatches asks how long their contents are kept.
    dispatches: createProgressRepository({ client: table, tableName, retentionDays: 0, random: Math.random, sleep }),
    news: createEventPublisher({ client: bus, busName, random: Math.random, sleep }),
    clock: Date.now,
    sleep,
    observe: () => undefined,
  });
  return async (records) => {
    const interpreted = records.map((record) => interpret(record));
    const unknown = interpreted.filter(({ kind }) => kind === 'malformed').length;
    // Before anything is counted: what is kept comes again, and would be counted each time.
    if (unknown > 0) return `${unknown} of its ${records.length} records cannot be understood`;
    return (await follow(interpreted, NO_TIME)) === undefined ? undefined : 'not all of it could be counted and told';
  };
};
