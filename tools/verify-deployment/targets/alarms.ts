import { type CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch';

import type { AlarmState } from '../target.ts';

const STATES = ['OK', 'ALARM', 'INSUFFICIENT_DATA'] as const;

/** Reads all alarms whose name begins with the prefix, composite ones too. */
export const readAlarms = async (client: CloudWatchClient, AlarmNamePrefix: string): Promise<readonly AlarmState[]> => {
  const alarms: AlarmState[] = [];
  const pages = paginateDescribeAlarms({ client }, { AlarmNamePrefix, AlarmTypes: ['MetricAlarm', 'CompositeAlarm'] });
  for await (const { MetricAlarms = [], CompositeAlarms = [] } of pages) {
    for (const { AlarmName = '', StateValue, AlarmDescription = '' } of [...MetricAlarms, ...CompositeAlarms]) {
      const state = STATES.find((each) => each === StateValue) ?? 'INSUFFICIENT_DATA';
      alarms.push({ name: AlarmName.slice(AlarmNamePrefix.length), state, description: AlarmDescription });
    }
  }
  return alarms;
};
