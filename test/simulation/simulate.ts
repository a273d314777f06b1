import { exit, stdout } from 'node:process';
import { parseArgs } from 'node:util';

import { describeBroken, runSchedules, seedsFrom } from './run.ts';

const SLICE = 5_000;

const { values } = parseArgs({
  options: { schedules: { type: 'string', default: '20000' }, from: { type: 'string', default: '1' } },
});
const [schedules, from] = [Number(values.schedules), Number(values.from)];
if (!Number.isInteger(schedules) || !Number.isInteger(from)) {
  stdout.write('give whole numbers: npm run simulate -- --schedules 100000 --from 1\n');
  exit(1);
}

const startedAt = Date.now();
let done = 0;
let broken = 0;
while (done < schedules) {
  const report = await runSchedules(seedsFrom(from + done, Math.min(SLICE, schedules - done)));
  done += report.schedules;
  broken += report.broken.length;
  const perSecond = Math.round((done / (Date.now() - startedAt)) * 1000);
  stdout.write(`seeds ${from} to ${from + done - 1}: ${done} schedules, ${perSecond} a second, ${broken} broken\n`);
  if (report.broken.length > 0) stdout.write(`${describeBroken(report.broken)}\n`);
}
exit(broken === 0 ? 0 : 1);
