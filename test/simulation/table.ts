import type { CanaryResult, WalkState } from '../../lambda/application/ports/control.ts';
import type { SweepState } from '../../lambda/application/ports/progress.ts';
import type { TaskKey } from '../../lambda/application/ports/queues.ts';
import type { StoredRecipient } from '../../lambda/application/ports/recipients.ts';
import type { NewTask, OpenTask } from '../../lambda/application/ports/tasks.ts';
import type { ProgressRecord } from '../../lambda/application/progress/follow-progress.ts';
import { type Dispatch, NO_COUNTS, NO_DELIVERIES, type RowCounts } from '../../lambda/domain/dispatch/dispatch.ts';
import type { Counted } from '../../lambda/domain/dispatch/progress.ts';
import type { RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import type { UnclearAttempt } from '../../lambda/domain/recipient/unclear.ts';
import { SENDING, type Sending } from '../../lambda/domain/sending/pause.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import type { Process } from './scheduler.ts';

/** A recipient's item. A change makes a new one, so one that is the same object has not changed. */
export interface Row extends StoredRecipient {
  readonly key: RecipientKey;
}

/** A dispatch's item. */
export interface DispatchItem extends Dispatch, SweepState {
  /** Whether the sweeper's index holds it. */
  readonly isOpen: boolean;
  readonly refusedCount: number;
  readonly tasks: number;
}

/** A record of the stream that the relay is to carry. */
export type StreamEntry =
  { readonly kind: 'recipient'; readonly key: RecipientKey } | { readonly kind: 'task'; readonly key: TaskKey };

/** The write that changed a row. */
export type Cause = 'claim' | 'write' | 'resolve' | 'reopen' | 'cancel' | 'amend';

/** The item about SES's events. */
export interface FeedbackItem {
  watermark: Instant | undefined;
  behindAt: Instant | undefined;
  readonly unapplied: Map<string, Instant>;
}

/** The ledger of unclear attempts, and what walks leave for each other. */
export interface UnclearItems {
  readonly items: Map<string, UnclearAttempt>;
  state: WalkState;
  canaryBookedAt: Instant;
}

/** Sees every change at the moment it takes effect. */
export interface TableObserver {
  readonly rowChanged: (before: Row, after: Row, cause: Cause, by: Process) => void;
  readonly dispatchChanged: (before: DispatchItem, after: DispatchItem, by: Process) => void;
}

/** The table: what it holds, without conditions. */
export interface Table {
  readonly rows: Map<string, Row>;
  readonly dispatches: Map<string, DispatchItem>;
  readonly tasks: Map<string, NewTask & OpenTask & { readonly key: TaskKey; readonly isDone: boolean }>;
  readonly stream: readonly StreamEntry[];
  readonly append: (entry: StreamEntry) => void;
  /** Records of changes, for progress to follow. */
  readonly changes: readonly ProgressRecord[];
  readonly follow: (record: ProgressRecord) => void;
  /** Called when there are more of them. */
  onChange: () => void;
  /** Called when the stream has grown. */
  onAppend: () => void;
  readonly feedback: FeedbackItem;
  readonly unclear: UnclearItems;
  sending: Sending;
  /** What senders tell one another about canaries. */
  readonly canaries: { newest: CanaryResult | undefined; bookedAt: Instant | undefined };
  lastPassAt: Instant | undefined;
  newestSentAt: Instant | undefined;
  readonly row: (key: RecipientKey) => Row | undefined;
  readonly rowsOf: (dispatchId: string, shard?: number) => Row[];
  readonly accept: (dispatch: Dispatch, rows: readonly Row[]) => void;
  readonly change: (row: Row, changes: Partial<StoredRecipient>, cause: Cause, by: Process) => Row;
  readonly putDispatch: (after: DispatchItem, by: Process) => void;
}

export const nameOf = ({ dispatchId, applyId }: RecipientKey): string => `${dispatchId}/${applyId}`;
export const taskName = ({ dispatchId, task }: TaskKey): string => `${dispatchId}#${task}`;

export const countRowsOf = (rows: readonly Row[]): RowCounts => {
  const counts = { ...NO_COUNTS };
  const deliveries = { ...NO_DELIVERIES };
  for (const { recipient, delivery } of rows) {
    counts[recipient.status] += 1;
    if (delivery !== 'none') deliveries[delivery] += 1;
  }
  return { counts, deliveries };
};

const countedOf = ({ recipient: { status }, delivery }: Row): Counted => ({ status, delivery });

export const createTable = (observer: TableObserver): Table => {
  const stream: StreamEntry[] = [];
  const changes: ProgressRecord[] = [];
  const follow = (record: ProgressRecord): void => {
    changes.push(record);
    table.onChange();
  };
  const table: Table = {
    rows: new Map(),
    dispatches: new Map(),
    tasks: new Map(),
    stream,
    changes,
    follow,
    onChange: () => undefined,
    onAppend: () => undefined,
    append: (entry) => {
      stream.push(entry);
      table.onAppend();
    },
    feedback: { watermark: undefined, behindAt: undefined, unapplied: new Map() },
    unclear: { items: new Map(), state: { seconds: 0, canaries: [] }, canaryBookedAt: -Infinity },
    sending: SENDING,
    canaries: { newest: undefined, bookedAt: undefined },
    lastPassAt: undefined,
    newestSentAt: undefined,

    row: (key) => table.rows.get(nameOf(key)),

    rowsOf: (dispatchId, shard) =>
      [...table.rows.values()].filter(({ key }) => key.dispatchId === dispatchId && (shard === undefined || key.shard === shard)),

    accept: (dispatch, rows) => {
      table.dispatches.set(dispatch.dispatchId, { ...dispatch, isOpen: true, refusedCount: 0, tasks: 0 });
      for (const row of rows) {
        table.rows.set(nameOf(row.key), row);
        table.append({ kind: 'recipient', key: row.key });
      }
    },

    change: (before, written, cause, by) => {
      const after = { ...before, ...written };
      table.rows.set(nameOf(after.key), after);
      const isReopened = ['FAILED', 'UNKNOWN'].includes(before.recipient.status) && after.recipient.status === 'PENDING';
      if (isReopened) table.append({ kind: 'recipient', key: after.key });
      if (before.recipient.status !== after.recipient.status || before.delivery !== after.delivery)
        follow({ kind: 'recipient', dispatchId: after.key.dispatchId, before: countedOf(before), after: countedOf(after) });
      observer.rowChanged(before, after, cause, by);
      return after;
    },

    putDispatch: (after, by) => {
      const before = table.dispatches.get(after.dispatchId) ?? after;
      table.dispatches.set(after.dispatchId, after);
      follow({ kind: 'dispatch', before, after, at: 0 });
      observer.dispatchChanged(before, after, by);
    },
  };
  return table;
};
