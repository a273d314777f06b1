import { type Check, failed, type Outcome, passed, skipped } from '../check.ts';
import type { AlarmState } from '../target.ts';

type Problem = 'in-alarm' | 'no-data' | 'none';

/** After a change of state by the checks themselves, alarms need some periods of a minute. */
const PATIENCE_SECONDS = 900;

const listed = (alarms: readonly AlarmState[]): string =>
  alarms.map(({ name, description }) => `${name}: ${description}`).join(' | ');

/** What the states of the alarms say. */
export const judgeAlarms = (alarms: readonly AlarmState[]): Outcome<Problem> => {
  const on = alarms.filter(({ state }) => state === 'ALARM');
  const silent = alarms.filter(({ state }) => state === 'INSUFFICIENT_DATA');
  if (alarms.length === 0) return failed('none', 'the stage has no alarm');
  if (on.length > 0) return failed('in-alarm', `${on.length} of ${alarms.length} in ALARM: ${listed(on)}`);
  if (silent.length > 0)
    return failed('no-data', `${silent.length} of ${alarms.length} without data: ${silent.map(({ name }) => name).join(', ')}`);
  return passed(`${alarms.length} alarms, all OK`);
};

const make = (id: string, name: string, waitSeconds: (query: number) => number): Check<Problem> => ({
  id,
  name,
  advice: {
    'in-alarm':
      'Each description ends with its section of docs/runbook.md: read it, fix the cause, and run the checks again when the alarm is OK.',
    'no-data':
      'Alarms have no data for some minutes after the first deployment. Wait 15 minutes and run the checks again; if it stays, the metric is not published: look at the sweeper.',
    none: 'The stack mail-dispatch-<stage>-watch is not deployed, or is in another region: npx cdk deploy --all.',
  },
  run: async ({ target, waiting, options }) => {
    if (!target.alarms.has) return skipped(target.alarms.why);
    const read = target.alarms.value;
    const { last } = await waiting.until(
      read,
      (alarms) => judgeAlarms(alarms).kind === 'passed',
      waitSeconds(options.waitSeconds),
    );
    return judgeAlarms(last);
  },
});

/** No alarm is on before anything is done. */
export const alarmsBefore = make('alarms-before', 'Alarms before', () => 0);

/** No alarm is on once the checks have put back what they changed; those that the checks set off get time to end. */
export const alarmsAfter = make('alarms-after', 'Alarms after', (query) => Math.min(query * 3, PATIENCE_SECONDS));
