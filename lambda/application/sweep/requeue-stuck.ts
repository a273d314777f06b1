import type { UnclearLedger } from '../ports/control.ts';
import type { OpenDispatchRepository, OverduePosition, OverdueRow } from '../ports/progress.ts';
import type { SendQueue } from '../ports/queues.ts';
import type { Open } from './list-open.ts';
import { statusesToSend } from './recover-dispatch.ts';

export interface RequeueDeps {
  readonly dispatches: Pick<OpenDispatchRepository, 'overdueRows' | 'keepRequeue'>;
  readonly sendQueue: Pick<SendQueue, 'send' | 'depth'>;
  readonly ledger: Pick<UnclearLedger, 'size'>;
}

/** A dispatch with rows that lost their message, and where they begin. */
export interface Stuck {
  readonly dispatch: Open;
  readonly from: OverduePosition;
}

/** What was re-enqueued of one dispatch in this pass. */
interface Turn extends Stuck {
  readonly sent: number;
}

/** What one turn came to: more to send, nothing left, or rows left that this pass does not send. */
type Served = { readonly turn: Turn; readonly then: 'more' | 'done' | 'later' };

/** Re-enqueued per dispatch even when the queue seems to hold everything: its counts are approximate. */
const AT_LEAST = 10;

/**
 * Sends the messages of stuck rows again, a page of each dispatch in turn, until time or what the queue is missing ends: a second
 * message does no harm, 50,000 of them would. Only one page is in memory. What is left is remembered for the next pass.
 * @param waiting rows of all open dispatches that should have a message
 * @returns how many were sent
 */
export const requeueStuck = async (
  deps: RequeueDeps,
  stuck: readonly Stuck[],
  waiting: number,
  hasTime: () => boolean,
): Promise<number> => {
  if (stuck.length === 0) return 0;
  // Rows on the ledger of unclear attempts need no message.
  const missing = waiting - (await deps.sendQueue.depth()) - (await deps.ledger.size());
  let total = 0;
  let turns: readonly Turn[] = inTurn(stuck);
  while (turns.length > 0) {
    const more: Turn[] = [];
    for (const turn of turns) {
      if (!hasTime()) {
        await keep(deps, { turn, then: 'later' });
        continue;
      }
      const served = await serve(deps, turn, missing - total, missing > 0);
      total += served.turn.sent - turn.sent;
      if (served.then === 'more') more.push(served.turn);
      else await keep(deps, served);
    }
    turns = more;
  }
  return total;
};

/** Those of which the last pass sent nothing come first. */
const inTurn = (stuck: readonly Stuck[]): Turn[] =>
  stuck.map((each) => ({ ...each, sent: 0 })).sort((a, b) => Number(isBegun(a)) - Number(isBegun(b)));

const isBegun = ({ from }: Stuck): boolean => from.shard > 0 || from.after !== undefined;

/** Sends a page, the longest overdue first. */
const serve = async ({ dispatches, sendQueue }: RequeueDeps, turn: Turn, gap: number, hadGap: boolean): Promise<Served> => {
  const { dispatch, from } = turn;
  const page = await dispatches.overdueRows(dispatch, statusesToSend(dispatch), from).catch(() => undefined);
  if (page === undefined) return { turn, then: 'later' };
  const room = Math.max(gap, AT_LEAST - turn.sent, 0);
  const rows = page.rows.toSorted((a, b) => a.since - b.since).slice(0, room);
  const answers = await send(sendQueue, rows);
  const sent = turn.sent + answers.filter(Boolean).length;
  const isWhole = rows.length === page.rows.length;
  // What the queue did not take, or has no room for, is looked for in this page again; without a gap it has all messages.
  if (answers.includes(false) || (!isWhole && hadGap)) return { turn: { ...turn, sent }, then: 'later' };
  if (!isWhole || page.next === undefined) return { turn: { ...turn, sent }, then: 'done' };
  return { turn: { dispatch, from: page.next, sent }, then: 'more' };
};

/** Calls to the queue at once: one alone would wait for the network most of the time. */
const AT_ONCE = 4;

const send = async (sendQueue: RequeueDeps['sendQueue'], rows: readonly OverdueRow[]): Promise<boolean[]> => {
  const size = Math.ceil(rows.length / AT_ONCE);
  const parts = Array.from({ length: AT_ONCE }, (_, i) => rows.slice(i * size, (i + 1) * size));
  const answers = await Promise.all(parts.map((part) => sendQueue.send(part.map(({ key }) => ({ key, delaySeconds: 0 })))));
  return answers.flat();
};

/** Not remembered, the rest is found when the dispatch has not moved for a while. */
const keep = async ({ dispatches }: RequeueDeps, { turn: { dispatch, from }, then }: Served): Promise<void> => {
  const rest = then === 'later' ? from : undefined;
  if (rest !== dispatch.requeueFrom) await dispatches.keepRequeue(dispatch.dispatchId, rest).catch(() => undefined);
};
