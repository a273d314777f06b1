import { randomUUID } from 'node:crypto';

import { ACCOUNT, REGION } from '../../cloudformation/types/identity.ts';
import type { FunctionPool } from '../pool.ts';
import type { EventSource } from './queue-source.ts';

/** One rule and one of its targets. */
export interface ScheduleOptions {
  readonly ruleArn: string;
  readonly pool: FunctionPool;
  readonly intervalSeconds: number;
  readonly onTrouble: (text: string) => void;
}

/** Calls the function now, saying that it is the start, and then at every interval; never twice at a time. */
export const startSchedule = ({ ruleArn, pool, intervalSeconds, onTrouble }: ScheduleOptions): EventSource => {
  let running: Promise<void> = Promise.resolve();
  let busy = false;
  let stopped = false;

  const call = async (detail: object) => {
    busy = true;
    const result = await pool.invoke({
      version: '0',
      id: randomUUID(),
      source: 'aws.events',
      'detail-type': 'Scheduled Event',
      account: ACCOUNT,
      region: REGION,
      time: `${new Date().toISOString().slice(0, 19)}Z`,
      resources: [ruleArn],
      detail,
    });
    busy = false;
    if (!result.ok && !stopped) onTrouble(`${pool.definition.name}: ${result.errorType}: ${result.errorMessage}`);
  };
  running = call({ atStart: true });
  const timer = setInterval(() => {
    if (!busy) running = call({});
  }, intervalSeconds * 1000);
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
      return running;
    },
  };
};
