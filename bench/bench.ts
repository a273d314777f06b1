// `npm run bench`: how long it takes to accept the largest dispatch, and how much memory; then how fast mails go out.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import * as z from 'zod';

import { type LaunchedStack, launchStack } from '../local/cli/launch.ts';

const LARGEST = 50_000;
const SENT = 1_000;
const Answer = z.looseObject({ id: z.string() });
const Now = z.looseObject({ counts: z.looseObject({ SENT: z.number() }) });

const bodyOf = ({ description }: LaunchedStack, recipients: number): string => {
  const [scenario] = description.scenarios;
  if (scenario === undefined) throw new Error('no scenario is seeded');
  return JSON.stringify({
    scenarioId: scenario.id,
    recruitId: 'bench',
    variables: scenario.variables,
    recipients: Array.from({ length: recipients }, (_, i) => ({
      applyId: `apply-${i}`,
      email: `person-${i}@example.com`,
      variables: scenario.recipientVariables,
    })),
  });
};

const post = async ({ description }: LaunchedStack, key: string, body: string): Promise<string> => {
  const response = await fetch(`${description.api}/dispatches`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${description.tokens.admin}`,
      'content-type': 'application/gzip',
      'idempotency-key': key,
    },
    body: gzipSync(body),
  });
  if (response.status !== 202) throw new Error(`answered ${response.status}: ${await response.text()}`);
  return Answer.parse(await response.json()).id;
};

/** The most memory that a process has had, in MB; Linux keeps it. */
const peakMegabytes = (pid: number): number => {
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
};

const timed = async <T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly seconds: number }> => {
  const start = performance.now();
  return { result: await work(), seconds: (performance.now() - start) / 1000 };
};

const waitUntilSent = async ({ description }: LaunchedStack, id: string): Promise<void> => {
  for (;;) {
    const response = await fetch(`${description.api}/dispatches/${id}`, {
      headers: { authorization: `Bearer ${description.tokens.admin}` },
    });
    if (Now.parse(await response.json()).counts.SENT === SENT) return;
    await sleep(500);
  }
};

const directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-bench-'));
const stack = await launchStack(directory, {});
try {
  await post(stack, 'warm', bodyOf(stack, 1));
  const sending = await timed(async () => {
    await waitUntilSent(stack, await post(stack, 'sending', bodyOf(stack, SENT)));
  });
  console.log(
    `sending ${SENT}: ${sending.seconds.toFixed(1)} s, ${Math.round(SENT / sending.seconds)} mails/s (the emulators are the limit)`,
  );
  const body = bodyOf(stack, LARGEST);
  const largest = await timed(() => post(stack, 'largest', body));
  const accept = stack.processes().filter((each) => each.function.startsWith('accept-dispatch'));
  const peak = Math.max(...accept.map(({ pid }) => peakMegabytes(pid)));
  console.log(
    `accepting ${LARGEST} (${(body.length / 1e6).toFixed(1)} MB): ${largest.seconds.toFixed(1)} s, peak memory ${peak} MB`,
  );
} finally {
  await stack.kill();
  rmSync(directory, { recursive: true, force: true });
}
