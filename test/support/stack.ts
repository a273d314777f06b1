import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import * as z from 'zod';

import { type LaunchedStack, launchStack } from '../../local/launch.ts';
import type { StackFile } from '../../local/stack-file.ts';

/** For runs in which nothing may be taken for unclear only because the machine is busy: the product's own times. */
export const PATIENT_TIMES = {
  SES_TIMEOUT_SECONDS: '10',
  FUNCTION_TIMEOUT_SECONDS: '30',
  LEASE_SECONDS: '300',
  VISIBILITY_SECONDS: '360',
  FEEDBACK_TIMEOUT_SECONDS: '10',
  FEEDBACK_VISIBILITY_SECONDS: '60',
};

/** Times short enough for a test to see what follows them; their order is the product's. */
const SHORT_TIMES = {
  SES_TIMEOUT_SECONDS: '1',
  FUNCTION_TIMEOUT_SECONDS: '5',
  LEASE_SECONDS: '9',
  VISIBILITY_SECONDS: '10',
  FEEDBACK_TIMEOUT_SECONDS: '2',
  FEEDBACK_VISIBILITY_SECONDS: '3',
  WITNESS_MARGIN_SECONDS: '1',
  HOLD_AFTER_SECONDS: '12',
  BACKOFF_BASE_SECONDS: '1',
  PAUSE_BASE_SECONDS: '1',
  PAUSE_CAP_SECONDS: '4',
  STILL_SECONDS: '3',
  VISIT_SECONDS: '2',
  SWEEP_SECONDS: '2',
};

const Counts = z.record(z.string(), z.number());
const Dispatch = z.object({ id: z.string(), status: z.string(), total: z.number(), counts: Counts });
const Recipients = z.object({
  recipients: z.array(
    z.looseObject({
      applyId: z.string(),
      email: z.string(),
      status: z.string(),
      attemptCount: z.number(),
      messageId: z.string().optional(),
      sentAt: z.string().optional(),
      attempts: z.array(z.looseObject({ outcome: z.string().optional() })),
    }),
  ),
  next: z.string().nullable(),
});
const JournalLine = z.looseObject({ to: z.array(z.string()), subject: z.string(), tags: z.record(z.string(), z.string()) });

export type Person = keyof StackFile['tokens'];
export type RecipientView = z.output<typeof Recipients>['recipients'][number];

/** Asks until the answer is as wanted, and fails with the last answer when it never is. */
export const poll = async <T>(ask: () => Promise<T>, wanted: (answer: T) => boolean, patienceMs = 60_000): Promise<T> => {
  const until = Date.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > until) throw new Error(`never came about; last seen: ${JSON.stringify(answer)}`);
    await sleep(100);
  }
};

/** A whole local stack in a folder of its own, with a client for its API. */
export class TestStack {
  readonly #directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-stack-'));
  readonly #environment: Readonly<Record<string, string>>;
  #launched: LaunchedStack | undefined;

  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = { ...SHORT_TIMES, ...environment };
  }

  async start(): Promise<void> {
    this.#launched = await launchStack(this.#directory, this.#environment);
  }

  get launched(): LaunchedStack {
    if (this.#launched === undefined) throw new Error('the stack is not up');
    return this.#launched;
  }

  get description(): StackFile {
    return this.launched.description;
  }

  /** Ends the stack and removes its folder. */
  async end(): Promise<void> {
    await this.#launched?.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** One request to the API. */
  request(
    method: string,
    path: string,
    options: { token?: string; headers?: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> } = {},
  ) {
    const { token = this.description.tokens.admin, headers = {}, body } = options;
    return fetch(`${this.description.api}${path}`, {
      method,
      headers: { ...(token !== '' && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body }),
    });
  }

  /** Posts a dispatch under a key. */
  post(key: string, body: unknown, person: Person = 'admin') {
    return this.request('POST', '/dispatches', {
      token: this.description.tokens[person],
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    });
  }

  /** A body of `n` recipients that satisfies the seeded scenario; `local` makes the addresses' local parts. */
  bodyOf(n: number, local: (i: number) => string = (i) => `person-${i}`) {
    const scenario = this.description.scenarios.find(({ id }) => id === 'interview-invitation');
    if (!scenario) throw new Error('the scenario is not seeded');
    return {
      scenarioId: scenario.id,
      recruitId: 'recruit-1',
      variables: scenario.variables,
      recipients: Array.from({ length: n }, (_, i) => ({
        applyId: `apply-${i}`,
        email: `${local(i)}@example.com`,
        variables: scenario.recipientVariables,
      })),
    };
  }

  /** Posts a dispatch that must be accepted, and gives its id. */
  async accepted(key: string, body: unknown): Promise<string> {
    const response = await this.post(key, body);
    const text = await response.text();
    if (response.status !== 202) throw new Error(`answered ${response.status}: ${text}`);
    return z.object({ id: z.string() }).parse(JSON.parse(text)).id;
  }

  async dispatch(id: string) {
    return Dispatch.parse(await (await this.request('GET', `/dispatches/${id}`)).json());
  }

  /** Waits until every recipient is final. */
  async finished(id: string, patienceMs?: number) {
    return poll(
      () => this.dispatch(id),
      ({ total, counts }) =>
        ['SENT', 'FAILED', 'UNKNOWN', 'CANCELLED'].reduce((sum, status) => sum + (counts[status] ?? 0), 0) === total,
      patienceMs,
    );
  }

  /** All recipients, page after page. */
  async recipients(id: string, query = ''): Promise<RecipientView[]> {
    const all: RecipientView[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const search = new URLSearchParams(query);
      if (cursor !== '') search.set('cursor', cursor);
      const response = await this.request('GET', `/dispatches/${id}/recipients?${search.toString()}`);
      const page = Recipients.parse(await response.json());
      all.push(...page.recipients);
      cursor = page.next;
    }
    return all;
  }

  /** What the emulated SES took for a dispatch, in order; it outlives the stack. */
  journal(dispatchId: string) {
    return readFileSync(join(this.#directory, 'journal.jsonl'), 'utf8')
      .split('\n')
      .flatMap((line) => parseLine(line) ?? [])
      .filter(({ tags }) => tags['dispatchId'] === dispatchId);
  }

  /** How many mails SES took for each address of a dispatch. */
  mails(dispatchId: string): Map<string, number> {
    const mails = new Map<string, number>();
    for (const address of this.journal(dispatchId).flatMap(({ to }) => to)) mails.set(address, (mails.get(address) ?? 0) + 1);
    return mails;
  }

  /** Sets faults at the gate in front of SES. */
  async fault(fault: Record<string, unknown>): Promise<void> {
    const response = await fetch(`${this.description.ses}/_gate/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    });
    if (!response.ok) throw new Error(`the gate answered ${response.status}: ${await response.text()}`);
  }
}

/** A line that a kill cut short is none. */
const parseLine = (line: string) => {
  try {
    return JournalLine.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
};
