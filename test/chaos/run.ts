import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import * as z from 'zod';

import type { LaunchedStack } from '../../local/cli/launch.ts';
import { createDraw } from '../../local/fake-ses/faults/seeded-random.ts';
import { openTable } from '../../local/table-rows.ts';
import { examine, type Tally } from './invariants.ts';
import { readJournal } from './journal.ts';
import { startKiller } from './killer.ts';
import { postJson } from './post-json.ts';
import { type DispatchBody, requestOf } from './request.ts';
import { type ChaosPlan, keepUp } from './supervisor.ts';
import { SHORT_TIMES } from './times.ts';

export interface ChaosReport extends Tally {
  readonly kills: number;
  readonly stackKills: number;
  readonly seconds: number;
  /** How the dispatch ended. */
  readonly status: string;
  /** What is wrong, in words; empty if every promise was kept. */
  readonly faults: readonly string[];
}

const ATTEMPTS_PER_ROUND = 7;

const FINAL: ReadonlySet<string> = new Set(['SENT', 'FAILED', 'UNKNOWN', 'CANCELLED']);
const Accepted = z.object({ id: z.string() });
const Published = z.looseObject({ waiting: z.number() });

/** One try of a client; undefined: nobody knows whether the request was taken, so it is to be repeated with its key. */
const post = async ({ description: { api, tokens } }: LaunchedStack, body: DispatchBody): Promise<string | undefined> => {
  const headers = {
    authorization: `Bearer ${tokens.admin}`,
    'content-type': 'application/json',
    'idempotency-key': 'ordeal',
  };
  const response = await fetch(`${api}/dispatches`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.ok) return Accepted.parse(JSON.parse(text)).id;
  if (response.status >= 500) return undefined;
  throw new Error(`answered ${response.status}: ${text}`);
};

/** Asks until there is an answer; whoever asks may meet a stack that is just being killed. */
const until = async <T>(deadline: number, what: string, ask: () => Promise<T | undefined>): Promise<T> => {
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (Date.now() > deadline) throw error;
      return undefined;
    });
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`${what} took too long`);
    await sleep(1_000);
  }
};

const withTable = async <T>(stack: LaunchedStack, work: (table: ReturnType<typeof openTable>) => Promise<T>): Promise<T> => {
  const table = openTable(stack.description);
  try {
    return await work(table);
  } finally {
    table.close();
  }
};

/** Sends a dispatch while processes are killed and calls to SES go wrong, and looks from outside at what became of it. */
export const runChaos = async (plan: ChaosPlan): Promise<ChaosReport> => {
  const directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-chaos-'));
  const supervisor = await keepUp(plan, directory);
  const killer = startKiller(supervisor.now, plan.killEverySeconds, createDraw(plan.seed));
  const deadline = Date.now() + plan.patienceSeconds * 1000;
  const began = performance.now();
  try {
    const up = () => {
      const stack = supervisor.now();
      if (stack === undefined) throw new Error('the stack is down');
      return stack;
    };
    const body = requestOf(up().description, plan.recipients);
    const id = await until(deadline, 'accepting', async () => post(up(), body));
    await until(deadline, 'sending', async () =>
      withTable(up(), async ({ rows }) => {
        const all = await rows(id);
        return all.length === plan.recipients && all.every(({ status }) => FINAL.has(status)) ? all : undefined;
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    killer.stop();
    const stack = await supervisor.calm();
    await until(deadline, 'completing', async () => {
      const { waiting } = Published.parse(await postJson(`${stack.description.ses}/_gate/events`, 'GET'));
      const { status } = await withTable(stack, ({ dispatch }) => dispatch(id));
      return waiting === 0 && status === 'COMPLETED' ? status : undefined;
    });
    // What feedback had in hand when it was killed comes again.
    await sleep(2 * Number(SHORT_TIMES['FEEDBACK_VISIBILITY_SECONDS']) * 1000);

    const rows = await withTable(stack, (table) => table.rows(id));
    const { status } = await withTable(stack, ({ dispatch }) => dispatch(id));
    const recorded = { requested: body.recipients, rows, mails: readJournal(directory, id) };
    // Only a policy that sends again on a guess may send twice, and only if no event tells.
    const duplicates = plan.policy === 'resend' && !plan.events ? Infinity : 0;
    const allowed = { duplicates, attemptsPerRound: ATTEMPTS_PER_ROUND, events: plan.events };
    const { tally, faults } = examine(recorded, allowed);
    await supervisor.end();
    plan.onEnd?.(directory, body);
    return { ...tally, kills: killer.kills(), stackKills: supervisor.stackKills(), seconds, status, faults };
  } finally {
    killer.stop();
    await supervisor.end();
    rmSync(directory, { recursive: true, force: true });
  }
};
