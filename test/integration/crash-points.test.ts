import { setTimeout as sleep } from 'node:timers/promises';

import { beforeAll, describe, expect, it } from 'vitest';

import type { CrashPointName } from '../chaos/crash/points.ts';
import type { DispatchBody } from '../chaos/request.ts';
import { madeOf, outcomesOf } from '../support/attempts.ts';
import { checkFromOutside } from '../support/invariants.ts';
import { poll } from '../support/stack.ts';
import { CRASH_HOOKS } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack('crash-points', { LOCAL_HOOKS: CRASH_HOOKS });
const bodies = new Map<string, DispatchBody>();

/** More than fit one transaction as rows, so that they travel in a batch. */
const MANY = 150;
/** Until the test ends it, however long the machine takes. */
const OUTAGE_SECONDS = 600;

/** Every one of them gets its mail, once. */
const CRASHES: readonly (readonly [point: CrashPointName, behaviour: string, recipients: number])[] = [
  ['relay-before-send', 'before it sends messages loses none of them', 3],
  ['relay-after-send', 'before it hears that messages were sent sends them twice, and each mail once (O4)', 3],
  ['expand-midway', 'in the middle of a batch goes on where it was (O6)', MANY],
  ['expand-before-delete', 'before the batch is deleted puts no recipient twice (O6, U6)', MANY],
  ['after-claim', 'after the claim, before the SES call, is made good without an operator (L2)', 3],
  ['before-accept', 'before SES has read the mail is made good without an operator (L2)', 3],
  ['after-accept', 'after SES took the mail, before the record, sends no second one (L3)', 3],
  ['before-record', 'just before the record sends no second mail (L3)', 3],
  ['after-record', 'after the record sends no second mail (U10)', 3],
  ['before-delete', 'before its messages are deleted sends no second mail (U10)', 3],
  ['requeue-after', 'between putting a fresh message in place and deleting the old one makes one attempt of both', 3],
  ['note-before', 'between the record of an unclear answer and its note on the ledger loses nobody (L2)', 3],
  ['note-after', 'after the note of an unclear answer, before its message is deleted, makes one attempt of both', 3],
  ['resolve-after-verdict', 'after a verdict, before its message is sent, loses nobody', 3],
  ['resolve-before-remove', 'before a resolved attempt is taken off the ledger makes one attempt more, not two', 3],
  ['feedback-before-delete', 'with applied events in hand applies them once (E2)', 3],
];

const post = async (key: string, recipients: number): Promise<string> => {
  const body = stack.bodyOf(recipients, (i) => `${key}-${i}`);
  bodies.set(key, body);
  return stack.accepted(key, body);
};

/** Points at which the outcome of a mail is unclear. */
const UNCLEAR_POINTS = ['note-before', 'note-after', 'resolve-after-verdict', 'resolve-before-remove'];

/** One after the other: a crash kills all processes of its function, and what they had in hand waits for its visibility to end. */
const crashEach = async () => {
  await stack.fault({ fault: 'throttle', recipient: 'requeue-after-', times: 3 });
  // One a recipient: a second lost answer of one recipient would leave it UNKNOWN.
  for (const point of UNCLEAR_POINTS) {
    for (const i of [0, 1, 2]) await stack.fault({ fault: 'reset-before', recipient: `${point}-${i}@`, times: 1 });
  }
  for (const [point, , recipients] of CRASHES) {
    // Deleting from a queue is Lambda's own business, and names no dispatch.
    const isAboutNone = point === 'before-delete' || point === 'feedback-before-delete';
    await stack.crash({ point, ...(!isAboutNone && { about: stack.idOf(point) }) });
    await post(point, recipients);
    await stack.crashed();
  }
};

/** A dispatch that is cancelled while a dead sender has its rows in hand. */
const crashAndCancel = async (point: CrashPointName) => {
  const key = `cancelled-${point}`;
  // Late enough not to complete it first.
  await stack.events({ recipient: key, delaySeconds: 3 });
  await stack.crash({ point, about: stack.idOf(key) });
  const id = await post(key, 3);
  await stack.crashed();
  expect((await stack.operate(id, 'cancel')).status).toBe(202);
};

beforeAll(async () => {
  await crashEach();
  await crashAndCancel('after-claim');
  await crashAndCancel('after-accept');
});

const checked = async (key: string) => {
  const id = stack.idOf(key);
  await stack.finished(id);
  const body = bodies.get(key);
  if (body === undefined) throw new Error(`nothing was posted under ${key}`);
  return checkFromOutside(stack, id, body);
};

describe('kill -9 of a function', () => {
  it.each(CRASHES)('at %s: %s', async (point, _behaviour, recipients) => {
    expect(await checked(point)).toMatchObject({ total: recipients, sent: recipients, lost: 0, duplicates: 0 });
  });

  it('lets every dispatch come to its end (Q9, U17)', async () => {
    for (const [point] of CRASHES) {
      const { status } = await poll(
        () => stack.table.dispatch(stack.idOf(point)),
        (dispatch) => dispatch.status === 'COMPLETED',
      );
      expect(status).toBe('COMPLETED');
    }
  });

  it('leaves an event that was delivered twice in its row once (E2)', async () => {
    const deliveries = (rows: Awaited<ReturnType<typeof stack.table.rows>>): number[] =>
      rows.map(({ events }) => events.filter(({ kind }) => kind === 'delivery').length);
    // A dispatch is complete when its mails are sent; what the dead worker had in hand comes again later.
    const rows = await poll(
      () => stack.table.rows(stack.idOf('feedback-before-delete')),
      (now) => !deliveries(now).includes(0),
    );

    expect(deliveries(rows)).toEqual([1, 1, 1]);
  });
});

const mailsOf = (key: string): number => stack.journal(stack.idOf(key)).length;

describe('a dispatch cancelled while a dead sender has its rows in hand', () => {
  it('cancels those whose mail SES never got (Q9, U16)', async () => {
    const { cancelled, sent, duplicates } = await checked('cancelled-after-claim');

    expect(cancelled).toBeGreaterThan(0);
    expect({ all: cancelled + sent, sent, duplicates }).toEqual({
      all: 3,
      sent: mailsOf('cancelled-after-claim'),
      duplicates: 0,
    });
  });

  it('shows those as sent whose mail SES took (Q9)', async () => {
    const { cancelled, sent, duplicates } = await checked('cancelled-after-accept');

    // The crash comes with the first answer: the others of its chunk may not have reached SES.
    expect(sent).toBeGreaterThan(0);
    expect({ all: cancelled + sent, sent, duplicates }).toEqual({
      all: 3,
      sent: mailsOf('cancelled-after-accept'),
      duplicates: 0,
    });
  });
});

describe('kill -9 while a request is accepted', () => {
  const repeatAfter = async (point: CrashPointName) => {
    const body = stack.bodyOf(3, (i) => `${point}-${i}`);
    bodies.set(point, body);
    await stack.crash({ point, about: stack.idOf(point) });
    const first = await stack.post(point, body);
    await stack.crashed();
    expect(first.status).toBeGreaterThanOrEqual(500);
    return stack.post(point, body);
  };

  it('before it is stored leaves its key free: the repeat is accepted', async () => {
    const repeat = await repeatAfter('accept-before');

    expect(repeat.status).toBe(202);
    expect(await checked('accept-before')).toMatchObject({ sent: 3, duplicates: 0 });
  });

  it('after it was stored makes the repeat a replay of it (A1)', async () => {
    const repeat = await repeatAfter('accept-after');

    expect(repeat.status).toBe(200);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(await repeat.json()).toMatchObject({ id: stack.idOf('accept-after') });
    expect(await checked('accept-after')).toMatchObject({ sent: 3, duplicates: 0 });
  });
});

describe('a function that is cut off', () => {
  it('from SES tries again by backoff, and holds nothing as unclear (S5)', async () => {
    await stack.outage('send-recipients', 'ses', OUTAGE_SECONDS);
    const id = await post('no-ses', 3);
    await poll(
      () => stack.table.rows(id),
      (rows) => rows.length === 3 && rows.every(({ attempts: [first] }) => first?.outcome !== undefined),
    );
    await stack.endOutages();

    expect(await checked('no-ses')).toMatchObject({ sent: 3, duplicates: 0 });

    for (const { attempts } of await stack.table.rows(id)) {
      expect(madeOf(attempts)[0]).toMatchObject({ outcome: 'retry', code: 'NOT_CONNECTED' });
      expect(attempts.map(({ outcome }) => outcome)).not.toContain('unclear');
    }
  });

  /** Sends a mail and cuts both off from the table when SES has it. @returns what its row says once SES and its event have answered */
  const cutOffAfterSend = async (key: string) => {
    await stack.fault({ fault: 'slow:1', recipient: `${key}-` });
    await stack.events({ recipient: `${key}-`, delaySeconds: 2 });
    const id = await post(key, 1);
    await poll(
      () => Promise.resolve(stack.journal(id)),
      (mails) => mails.length === 1,
    );
    await Promise.all(['send-recipients', 'apply-feedback'].map((name) => stack.outage(name, 'dynamodb', 6)));
    await sleep(4_000);
    const [row] = await stack.table.rows(id);
    return row?.status;
  };

  it('from the table right after SES took the mail never sends it again (L5)', async () => {
    const keys = ['no-table', 'no-table-again', 'no-table-once-more'];
    const seen: unknown[] = [];
    // A busy machine may cut them off too late, when all is written down.
    for (const key of keys) {
      seen.push(await cutOffAfterSend(key));
      expect(await checked(key)).toMatchObject({ sent: 1, duplicates: 0 });
      expect((await stack.table.rows(stack.idOf(key))).map(outcomesOf)).toEqual([['sent']]);
      if (seen.includes('PROCESSING')) break;
    }

    expect(seen).toContain('PROCESSING');
  });
});

describe('progress that is cut off', () => {
  it('from the event bus tells late how a dispatch ended, and holds up no mail', async () => {
    await stack.outage('follow-progress', 'events', OUTAGE_SECONDS);
    const id = await post('no-bus', 3);

    expect(await checked('no-bus')).toMatchObject({ sent: 3, duplicates: 0 });
    await poll(
      () => Promise.resolve(stack.log('follow-progress')),
      (log) => log.includes('"signal":"not-published"'),
    );
    await stack.endOutages();

    const news = await poll(
      () => stack.distinctNews(id),
      (all) => all.length > 0,
    );
    expect(news).toMatchObject([{ 'detail-type': 'Dispatch Completed', detail: { id: `${id}-0-completed`, total: 3 } }]);
  });
});

describe('a feedback worker that dies with an event in hand', () => {
  it('neither has its mail sent again nor holds up the others (E5)', async () => {
    const about = stack.idOf('event-in-hand');
    await stack.crash({ point: 'after-accept', about });
    await stack.crash({ function: 'apply-feedback', service: 'dynamodb', operation: 'GetItem', when: 'before', about, times: 2 });
    await post('event-in-hand', 1);
    await poll(
      () => Promise.resolve(stack.journal(about)),
      (mails) => mails.length === 1,
    );
    await post('others', 10);
    expect(await checked('others')).toMatchObject({ sent: 10, duplicates: 0 });

    await stack.crashed();
    expect(await checked('event-in-hand')).toMatchObject({ sent: 1, duplicates: 0 });
    expect((await stack.table.rows(about)).map(outcomesOf)).toEqual([['sent']]);
  });
});
