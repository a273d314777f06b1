import {
  Alarm,
  AlarmRule,
  ComparisonOperator,
  CompositeAlarm,
  type IMetric,
  type TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Construct } from 'constructs';

import { runbookPath, type RunbookSection } from '../monitoring/runbook.ts';
import type { AlarmTopics } from './alarm-topics.ts';

export interface AlarmText {
  /** What it means for people: one sentence, read in the middle of the night. */
  readonly impact: string;
  readonly runbook: RunbookSection;
}

export interface RegisteredAlarmProps extends AlarmText {
  readonly metric: IMetric;
  /** `page`: somebody must get up; `notice`: it can wait until the morning. */
  readonly severity: 'page' | 'notice';
  /**
   * What no value at all says. A state that is told every few minutes stays what it was (ignore); events that are counted
   * did not happen (not breaching); a heartbeat has stopped (breaching).
   */
  readonly missing: Exclude<TreatMissingData, TreatMissingData.MISSING>;
  /** @default 0 */
  readonly threshold?: number;
  /** @default - the value must not exceed the threshold */
  readonly goesOffBelow?: boolean;
  /**
   * How many of the last periods must be bad.
   *
   * @default - the last one
   */
  readonly when?: { readonly bad: number; readonly of: number };
}

/** The one way to make an alarm: none without an impact, a section of the runbook, and a decision on silence. */
export class AlarmRegistry extends Construct {
  readonly #notices: AlarmTopics;
  readonly #alarms: Alarm[] = [];
  readonly #pages: Alarm[] = [];

  constructor(scope: Construct, id: string, alarmTopics: AlarmTopics) {
    super(scope, id);
    this.#notices = alarmTopics;
  }

  /** Every alarm so far, in the order in which they were added. */
  get all(): readonly Alarm[] {
    return this.#alarms;
  }

  /** An alarm that is told once when it goes off and once when it is over, however often its cause is told. */
  add(id: string, { metric, severity, missing, threshold = 0, goesOffBelow = false, when, ...text }: RegisteredAlarmProps): void {
    const { bad, of } = when ?? { bad: 1, of: 1 };
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      comparisonOperator: goesOffBelow ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: of,
      datapointsToAlarm: bad,
      treatMissingData: missing,
      alarmDescription: describe(text),
    });
    const action = new SnsAction(this.#notices.all);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    this.#alarms.push(alarm);
    if (severity === 'page') this.#pages.push(alarm);
  }

  /**
   * One alarm over all of them for which somebody must get up: the first calls, those that follow do not call again.
   * @param name physical name: the one that CDK makes up is the same in every stage of an account
   */
  pageForAny(id: string, { name, ...text }: AlarmText & { readonly name: string }): void {
    const page = new CompositeAlarm(this, id, {
      compositeAlarmName: name,
      alarmRule: AlarmRule.anyOf(...this.#pages),
      alarmDescription: describe(text),
    });
    const action = new SnsAction(this.#notices.pages);
    page.addAlarmAction(action);
    page.addOkAction(action);
  }
}

const describe = ({ impact, runbook }: AlarmText): string => `${impact} Runbook: ${runbookPath(runbook)}`;
