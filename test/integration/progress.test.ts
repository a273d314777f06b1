import { env } from 'node:process';

import { beforeAll, describe, expect, it } from 'vitest';

import type { RawRow } from '../../local/table-rows.ts';
import { poll, type TestStack } from '../support/stack.ts';
import { CRASH_HOOKS, SLOW_STACK } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

/** More of them show more; few are enough to see that it works. */
const RECIPIENTS = Number(env['PROGRESS_RECIPIENTS'] ?? 200);
/** How long a dispatch of so many takes at most, on a machine that is busy. */
const PATIENCE_MS = 240_000 + RECIPIENTS * 100;

const ofSes = (name: string) => (i: number) => `${name}+${i}@simulator.amazonses.com`;
const ofOurs = (name: string) => (i: number) => `${name}+${i}@simulator.localhost`;

/** What becomes of every tenth mail, in turn; all others are delivered. Few enough bounce for the dispatch to go on. */
const FATES: readonly ((i: number) => string)[] = [
  ofSes('bounce'),
  ofOurs('bad-request'),
  ofSes('complaint'),
  ofOurs('reject'),
  ofOurs('delay'),
  ofOurs('suppressed'),
  ofOurs('soft-bounce'),
];
const addressOf = (i: number): string => FATES[(i / 10) % FATES.length]?.(i) ?? ofSes('success')(i);

const bodyOf = (stack: TestStack, n: number, address: (i: number) => string) => {
  const body = stack.bodyOf(n);
  return { ...body, recipients: body.recipients.map((recipient, i) => ({ ...recipient, email: address(i) })) };
};

const countBy = (rows: readonly RawRow[], by: (row: RawRow) => string | undefined): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const name = by(row);
    if (name !== undefined && name !== 'none') counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

const withoutNone = (counts: unknown): Record<string, number> =>
  Object.fromEntries(Object.entries(counts as Record<string, number>).filter(([, n]) => n !== 0));

/** What is kept of a dispatch beside what its rows say, and whether the sweeper is still to look at it. */
const bothCounts = async (stack: TestStack, id: string) => {
  const item = await stack.table.dispatch(id);
  const rows = await stack.table.rows(id);
  return {
    isOpen: item['openKey'] === 'OPEN',
    kept: { counts: withoutNone(item['counts']), deliveries: withoutNone(item['deliveries']) },
    scanned: { counts: countBy(rows, ({ status }) => status), deliveries: countBy(rows, ({ delivery }) => delivery) },
    status: item.status,
  };
};

/** Waits until nobody is to look at it any more and the counts are those of the rows. */
const settled = (stack: TestStack, id: string) =>
  poll(
    () => bothCounts(stack, id),
    ({ isOpen, kept, scanned }) => !isOpen && JSON.stringify(sorted(kept)) === JSON.stringify(sorted(scanned)),
    PATIENCE_MS,
  );

const sorted = ({ counts, deliveries }: Awaited<ReturnType<typeof bothCounts>>['kept']) =>
  [counts, deliveries].map((map) => Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));

describe(`a dispatch of ${RECIPIENTS} recipients`, () => {
  const stack = useStack('progress', { LOCAL_HOOKS: CRASH_HOOKS });
  let id = '';
  const idsOfEvents = async () => (await stack.news(id)).map(({ detail }) => detail.id);

  beforeAll(async () => {
    id = await stack.accepted('mixed', bodyOf(stack, RECIPIENTS, addressOf));
    await poll(
      () => stack.table.dispatch(id),
      ({ status }) => status === 'COMPLETED',
      PATIENCE_MS,
    );
  }, 300_000 + PATIENCE_MS);

  it(
    'has the counts of its rows when all is over, however its mails ended (E1)',
    async () => {
      // Every event of SES is in the rows.
      await poll(
        async () => (await stack.table.rows(id)).filter(({ status, delivery }) => status === 'SENT' && delivery === undefined),
        (rows) => rows.length === 0,
        PATIENCE_MS,
      );

      const { kept, scanned } = await settled(stack, id);

      expect(kept).toEqual(scanned);
      expect(Object.keys(kept.deliveries).toSorted()).toEqual([
        'bounced',
        'complained',
        'delayed',
        'delivered',
        'rejected',
        'soft-bounced',
        'suppressed',
      ]);
      expect(kept.counts['FAILED']).toBeGreaterThan(0);
    },
    300_000 + PATIENCE_MS,
  );

  it('is told of on the bus, with ids that stay', async () => {
    await poll(idsOfEvents, (ids) => new Set(ids).size >= 2);
    const completed = (await stack.news(id)).find(({ detail }) => detail.id === `${id}-0-completed`);

    expect(new Set(await idsOfEvents())).toEqual(new Set([`${id}-0-completed`, `${id}-0-needs-attention`]));
    expect(completed).toMatchObject({
      source: 'mail-dispatch',
      'detail-type': 'Dispatch Completed',
      detail: { version: 1, id: `${id}-0-completed`, status: 'COMPLETED', outcome: 'partly-sent', total: RECIPIENTS },
    });
    expect(JSON.stringify(await stack.news(id))).not.toContain('@');
  });

  it(
    'has them again after all changes have come a second and a third time (O4)',
    async () => {
      const before = await settled(stack, id);
      for (const times of [2, 3]) {
        await stack.replayStream('follow-progress');
        await poll(idsOfEvents, (ids) => ids.filter((each) => each.endsWith('-completed')).length >= times, PATIENCE_MS);
        expect((await settled(stack, id)).kept).toEqual(before.kept);
      }
      expect(new Set(await idsOfEvents())).toEqual(new Set([`${id}-0-completed`, `${id}-0-needs-attention`]));
    },
    300_000 + 2 * PATIENCE_MS,
  );
});

describe('progress', () => {
  const stack = useStack('slow-progress', SLOW_STACK);
  /** So many that most still wait when a busy machine has handled the events of the first ones. */
  const MANY = 600;

  it('completes a dispatch of 80 mails of which many are answered by automatic replies (V4)', async () => {
    const replies = (i: number) => (i < 16 ? ofSes('ooto')(i) : ofOurs('unread-reply')(i));
    const id = await stack.accepted(
      'replies',
      bodyOf(stack, 80, (i) => (i < 28 ? replies(i) : ofSes('success')(i))),
    );
    const rows = await poll(
      () => stack.table.rows(id),
      (found) => found.flatMap(({ events }) => events.filter(({ kind }) => kind === 'soft-bounce')).length === 28,
    );
    await poll(
      () => stack.table.rows(id),
      (found) => found.every(({ delivery }) => delivery === 'delivered'),
    );

    const words = rows.flatMap(({ events }) =>
      events.flatMap(({ kind, ...event }) => (kind === 'soft-bounce' ? [event['detail']] : [])),
    );
    expect(words.filter((word) => word === 'Transient/General')).toHaveLength(16);
    expect(words.filter((word) => word === 'Undetermined/Undetermined')).toHaveLength(12);
    const { kept, status } = await settled(stack, id);
    expect(status).toBe('COMPLETED');
    expect(kept).toEqual({ counts: { SENT: 80 }, deliveries: { delivered: 80 } });
    expect(await stack.table.dispatch(id)).toMatchObject({ outcome: 'all-sent', needsAttention: false });
  });

  it('stops a dispatch of which too many mails are complained about', async () => {
    const id = await stack.accepted('complaints', bodyOf(stack, MANY, ofSes('complaint')));
    await poll(
      () => stack.dispatch(id),
      ({ status, counts: { PROCESSING } }) => status === 'STOPPED' && PROCESSING === 0,
    );

    expect(await stack.table.dispatch(id)).toMatchObject({ status: 'STOPPED', failureReason: 'high-complaint-rate' });
  });

  it('stops a dispatch of which too many mails bounce, and tells of it', async () => {
    const id = await stack.accepted('bouncing', bodyOf(stack, MANY, ofSes('bounce')));
    const { counts } = await poll(
      () => stack.dispatch(id),
      ({ status, counts: { PROCESSING } }) => status === 'STOPPED' && PROCESSING === 0,
    );

    expect(counts['PENDING']).toBeGreaterThan(0);
    const item = await stack.table.dispatch(id);
    expect(item).toMatchObject({ status: 'STOPPED', failureReason: 'high-bounce-rate' });
    const news = await poll(
      () => stack.distinctNews(id),
      (found) => found.length > 0,
    );
    expect(news).toMatchObject([
      {
        'detail-type': 'Dispatch Stopped',
        detail: { id: `${id}-${String(item['stoppedAt'])}-stopped`, failureReason: 'high-bounce-rate' },
      },
    ]);
  });

  it('that always fails holds up no mail, and the sweeper completes the dispatch (U10)', async () => {
    await stack.outage('follow-progress', 'dynamodb', 600);
    const id = await stack.accepted('alone', bodyOf(stack, 20, ofSes('success')));

    const { status } = await poll(
      () => stack.table.dispatch(id),
      (item) => item.status === 'COMPLETED',
    );

    expect(status).toBe('COMPLETED');
    expect(stack.log('follow-progress')).toContain('not-counted');
    expect((await settled(stack, id)).kept.counts).toEqual({ SENT: 20 });
  });
});
