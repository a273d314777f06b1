// `npm run test:chaos`: sends while processes are killed at random and SES misbehaves, and counts what became of every mail.
import { parseArgs } from 'node:util';

import * as z from 'zod';

import { type ChaosReport, runChaos } from './run.ts';
import type { ChaosPlan } from './supervisor.ts';

const number = (fallback: number) => z.coerce.number().positive().default(fallback);

const Options = z.object({
  recipients: number(2_000),
  runs: number(1),
  seed: z.coerce.number().int().default(1),
  policy: z.enum(['auto', 'resend', 'manual']).default('auto'),
  events: z.enum(['on', 'off']).default('on'),
  'kill-every': number(2),
  'kill-stack': z.coerce.number().positive().optional(),
  rate: number(70),
});

const COLUMNS = ['recipients', 'sent', 'failed', 'unknown', 'duplicates', 'lost', 'kills', 'stack kills', 'seconds'] as const;

const cells = (report: ChaosReport): Readonly<Record<(typeof COLUMNS)[number], number>> => ({
  ...report,
  recipients: report.total,
  'stack kills': report.stackKills,
  seconds: Math.round(report.seconds),
});

const line = (values: readonly (string | number)[]): string => values.map((value) => String(value).padStart(12)).join('');

const run = async (): Promise<void> => {
  const options = Object.fromEntries(Object.keys(Options.shape).map((name) => [name, { type: 'string' as const }]));
  const { recipients, runs, seed, policy, events, rate, ...kill } = Options.parse(parseArgs({ options }).values);
  const every = kill['kill-stack'];
  console.log(`policy ${policy}, events ${events}, a process killed every ${kill['kill-every']} s`);
  console.log(line(['seed', ...COLUMNS]));
  for (let n = 0; n < runs; n += 1) {
    const plan: ChaosPlan = {
      recipients,
      seed: seed + n,
      policy,
      events: events === 'on',
      killEverySeconds: kill['kill-every'],
      ...(every !== undefined && { killStackEverySeconds: every }),
      mailsPerSecond: rate,
      patienceSeconds: 120 + recipients / 5,
    };
    const report = await runChaos(plan);
    const row = cells(report);
    console.log(line([plan.seed, ...COLUMNS.map((column) => row[column])]));
    for (const fault of report.faults) console.log(`! ${fault}`);
    if (report.faults.length > 0) process.exitCode = 1;
  }
};

run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
