import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import * as z from 'zod';

import { dispatchIdOf } from '../../lambda/adapters/hashing/dispatch-id.ts';
import { type LaunchedStack, launchStack } from '../../local/cli/launch.ts';
import type { AccountChange } from '../../local/fake-ses/account.ts';
import type { EventRule } from '../../local/fake-ses/events/rules.ts';
import { checkpointFile, forgetCheckpoints } from '../../local/lambda-host/event-sources/checkpoints.ts';
import type { StackFile } from '../../local/stack-file.ts';
import { openTable } from '../../local/table-rows.ts';
import type { CrashOrder } from '../chaos/crash/plan.ts';
import { readJournal } from '../chaos/journal.ts';
import { postJson } from '../chaos/post-json.ts';
import { requestOf } from '../chaos/request.ts';
import { SHORT_TIMES } from '../chaos/times.ts';
import { lookForLeaks } from '../leak-scan/look.ts';
import { distinct, markersOfRequest } from '../leak-scan/markers.ts';
import type { Marker } from '../leak-scan/search.ts';
import { poll } from './poll.ts';
import { openQueues } from './stack-queues.ts';
import { UNHURRIED } from './stack-settings.ts';
import { BusEvent, Crashes, Dispatch, Recipients, SendingView } from './stack-views.ts';

/** A sender's knowledge of a pause is never older than this. */
const PAUSE_KNOWN_MS = 5_000;

export type Person = keyof StackFile['tokens'];
export type RecipientView = z.output<typeof Recipients>['recipients'][number];

export { poll };

/** A whole local stack in a folder of its own, with a client for its API. */
export class TestStack {
  readonly #directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-stack-'));
  readonly #environment: Readonly<Record<string, string>>;
  #markers: readonly Marker[] = [];
  /** Of the tests that use the stack now: what their keys begin with, and where their part of each log begins. */
  #scope: { readonly prefix: string; readonly logStarts: ReadonlyMap<string, number> } = { prefix: '', logStarts: new Map() };
  #outages: { readonly function: string; readonly service: string }[] = [];
  #launched: LaunchedStack | undefined;
  #inside: { readonly table: ReturnType<typeof openTable>; readonly queues: ReturnType<typeof openQueues> } | undefined;

  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = { ...SHORT_TIMES, ...UNHURRIED, LOCAL_RECORD: '1', ...environment };
  }

  /** @param settings other than those that the stack was made with */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#close();
    this.#outages.splice(0);
    this.#launched = await launchStack(this.#directory, { ...this.#environment, ...settings });
    this.#inside = { table: openTable(this.description), queues: openQueues(this.description) };
  }

  #close(): void {
    this.#inside?.table.close();
    this.#inside?.queues.close();
    this.#inside = undefined;
  }

  get #open() {
    if (this.#inside !== undefined) return this.#inside;
    throw new Error('the stack is not up');
  }

  /** From here on other tests use the stack: their keys name other dispatches, and they see the logs of their own time. */
  beginScope(name: string): void {
    this.#scope = { prefix: `${name}-`, logStarts: new Map(this.#logFiles().map((file) => [file, statSync(file).size])) };
  }

  get table() {
    return this.#open.table;
  }

  get queues() {
    return this.#open.queues;
  }

  get launched(): LaunchedStack {
    if (this.#launched === undefined) throw new Error('the stack is not up');
    return this.#launched;
  }

  get description(): StackFile {
    return this.launched.description;
  }

  /** Lets a function that follows the table's stream read all of it again, by a restart. */
  async replayStream(functionName: string): Promise<void> {
    await this.launched.stop();
    forgetCheckpoints(checkpointFile(this.#directory), functionName);
    await this.start();
  }

  /** What was published about a dispatch, oldest first. */
  async news(dispatchId: string) {
    const events = z.array(BusEvent).parse(await (await fetch(this.description.busUrl)).json());
    return events.filter(({ detail }) => detail.dispatchId === dispatchId);
  }

  /** The same, each id once: what is published may be published again. */
  async distinctNews(dispatchId: string) {
    return [...new Map((await this.news(dispatchId)).map((event) => [event.detail.id, event])).values()];
  }

  /** Fails if anything that only mails may show is in a log, a metric, a message, an event or an error answer so far (S14). */
  lookForLeaks(): void {
    lookForLeaks(this.#directory, this.#markers);
  }

  /** Ends the stack, sees that it has told nothing that only mails may show (S14), and removes its folder. */
  async end(): Promise<void> {
    this.#close();
    await this.#launched?.stop();
    try {
      this.lookForLeaks();
    } finally {
      rmSync(this.#directory, { recursive: true, force: true });
    }
  }

  /** One request to the API. */
  request(
    method: string,
    path: string,
    options: { token?: string; headers?: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> } = {},
  ) {
    const { token = this.description.tokens.admin, headers = {}, body } = options;
    if (body !== undefined) this.#markers = distinct([...this.#markers, ...markersOfRequest(body)]);
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
      headers: { 'content-type': 'application/json', 'idempotency-key': `${this.#scope.prefix}${key}` },
      body: JSON.stringify(body),
    });
  }

  /** A body of `n` recipients that satisfies the seeded scenario; `local` makes the addresses' local parts. */
  bodyOf(n: number, local?: (i: number) => string) {
    return requestOf(this.description, n, local);
  }

  /** The id that a dispatch under that key has, or will have. */
  idOf(key: string): string {
    return dispatchIdOf('admin-1', `${this.#scope.prefix}${key}`);
  }

  /** Posts a dispatch that must be accepted, and gives its id; asks again after a 503, as that answer says. */
  async accepted(key: string, body: unknown): Promise<string> {
    const { status, text } = await poll(
      async () => {
        const response = await this.post(key, body);
        return { status: response.status, text: await response.text() };
      },
      (answer) => answer.status !== 503,
    );
    // 200: the answer before it came to nothing, its request did not.
    if (status !== 202 && status !== 200) throw new Error(`answered ${status}: ${text}`);
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
    return readJournal(this.#directory, dispatchId);
  }

  /** How many mails SES took for each address of a dispatch. */
  mails(dispatchId: string): Map<string, number> {
    const mails = new Map<string, number>();
    for (const address of this.journal(dispatchId).flatMap(({ to }) => to)) mails.set(address, (mails.get(address) ?? 0) + 1);
    return mails;
  }

  /** What the functions of that name have logged, since the tests of now began to use the stack. */
  log(functionName: string): string {
    const files = this.#logFiles().filter((file) => basename(file).startsWith(functionName));
    return files.map((file) => readFileSync(file).subarray(this.#scope.logStarts.get(file)).toString('utf8')).join('');
  }

  #logFiles(): string[] {
    const folder = join(this.#directory, 'logs');
    return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  }

  /** Sets faults at the gate in front of SES. */
  async fault(fault: Record<string, unknown>): Promise<void> {
    await postJson(`${this.description.ses}/_gate/faults`, 'POST', fault);
  }

  async clearFaults(): Promise<void> {
    await postJson(`${this.description.ses}/_gate/faults`, 'DELETE');
  }

  /** Says what becomes of SES's events about mails to come. */
  async events(rule: z.input<typeof EventRule>): Promise<void> {
    await postJson(`${this.description.ses}/_gate/events`, 'POST', rule);
  }

  /** Changes the SES account. */
  async account(change: AccountChange): Promise<void> {
    await postJson(`${this.description.ses}/_gate/account`, 'PUT', change);
  }

  /** Orders a crash for a moment to come; needs LOCAL_HOOKS: CRASH_HOOKS. */
  async crash(order: z.input<typeof CrashOrder>): Promise<void> {
    await postJson(this.description.crash ?? '', 'POST', order);
  }

  /** Waits until every crash that was ordered has struck. */
  async crashed(): Promise<void> {
    await poll(
      async () => Crashes.parse(await postJson(this.description.crash ?? '', 'GET')),
      (orders) => orders.every(({ times, fired }) => fired === times),
    );
  }

  /** Cuts functions off from a service for a time; needs LOCAL_HOOKS: CRASH_HOOKS. */
  async outage(functionName: string, service: 'dynamodb' | 'sqs' | 'ses' | 'events' | 's3', seconds: number): Promise<void> {
    const address = new URL('/_outage', this.description.crash).href;
    this.#outages.push({ function: functionName, service });
    await postJson(address, 'POST', { function: functionName, service, seconds });
  }

  /** Ends the outages that still last. */
  async endOutages(): Promise<void> {
    const address = new URL('/_outage', this.description.crash).href;
    await Promise.all(this.#outages.splice(0).map((each) => postJson(address, 'POST', { ...each, seconds: 0.01 })));
  }

  /** Cancels or resumes a dispatch. */
  operate(id: string, operation: 'cancel' | 'resume', token = this.description.tokens.admin) {
    return this.request('POST', `/dispatches/${id}/${operation}`, { token });
  }

  /** Asks how sending stands, or pauses or resumes it, as an operator. */
  async sending(request?: { readonly paused: boolean; readonly reason?: string }): Promise<z.output<typeof SendingView>> {
    const response = await this.request(request === undefined ? 'GET' : 'PUT', '/sending', {
      token: this.description.tokens.operator,
      ...(request && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) }),
    });
    return SendingView.parse(await response.json());
  }

  /** Pauses sending as an operator, and waits until every sender knows. */
  async pause(reason = 'a test'): Promise<void> {
    await this.sending({ paused: true, reason });
    await sleep(PAUSE_KNOWN_MS);
  }
}
