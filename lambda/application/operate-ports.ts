import type { Dispatch } from '../domain/dispatch.ts';
import type { Instant } from '../domain/instant.ts';
import type { Operation } from '../domain/operation.ts';
import type { Recipient, RecipientKey } from '../domain/recipient.ts';
import type { TaskKey } from './ports.ts';
import type { RecipientPosition } from './read-ports.ts';

/** A dispatch as it is changed by a person. */
export interface Operable {
  readonly dispatch: Dispatch;
  /** Number of its newest task; 0: it has none. */
  readonly tasks: number;
}

/** Long work to be done on a dispatch. */
export interface NewTask {
  readonly kind: Operation;
  readonly requestedAt: Instant;
  readonly requestedBy: string;
  /** What a resume has to put right; absent when there is nothing. */
  readonly faultCode?: string;
  readonly faultSince?: Instant;
}

/** Dispatches as people change them. */
export interface OperateRepository {
  /** Reads consistently. Throws {@link Unavailable}. */
  find(dispatchId: string): Promise<Operable | undefined>;
  /**
   * Stores the dispatch's next state and its next task in one write.
   * @returns false: status or generation are no longer those that were read, or it cannot be told; nothing is known to be stored
   */
  start(from: Operable, next: Dispatch, task: NewTask): Promise<boolean>;
}

/** A task that is not done. */
export interface OpenTask extends NewTask {
  /** Where to go on; absent: at the beginning. */
  readonly cursor?: RecipientPosition;
  /** The write that set the cursor. */
  readonly step?: string;
}

/** A row, as far as a task looks at it. `broken`: no version of this code can read it; only a person can help. */
export interface TaskRow {
  readonly key: RecipientKey;
  readonly recipient: Recipient | 'broken';
}

/** Tasks, and what they work on. Every method throws when the table does not answer. */
export interface TaskRepository {
  /** Undefined: done, or gone. */
  find(key: TaskKey): Promise<OpenTask | undefined>;
  dispatch(dispatchId: string): Promise<Dispatch | undefined>;
  /** Some rows in these states, read consistently, and where the next ones begin. A page may be empty and not be the last. */
  rows(
    dispatch: Pick<Dispatch, 'dispatchId' | 'shards'>,
    statuses: readonly Recipient['status'][],
    from: RecipientPosition,
  ): Promise<{ readonly rows: readonly TaskRow[]; readonly next?: RecipientPosition }>;
  /**
   * Moves the cursor on, as long as it stands where that worker read it; without a next position the task is done.
   * @param step names this write
   * @returns false: another worker has gone on
   */
  advance(key: TaskKey, task: OpenTask, next: RecipientPosition | undefined, step: string): Promise<boolean>;
}
