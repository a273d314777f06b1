import type { Command } from '../../domain/dispatch/command.ts';
import type { RecipientInput } from '../../domain/dispatch/content.ts';
import type { Dispatch, DispatchStatus } from '../../domain/dispatch/dispatch.ts';
import type { Recipient, RecipientKey, RecipientStatus } from '../../domain/recipient/recipient.ts';
import type { Settlement } from '../../domain/recipient/settlement.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { RecipientPosition } from './queries.ts';
import type { BatchKey, TaskKey } from './queues.ts';
import type { StoredRecipient } from './recipients.ts';

/** A batch that is not expanded yet, and what of its dispatch its expansion needs. */
export interface FoundBatch {
  /** Key of the object that holds the recipients. */
  readonly object: string;
  /** Number of its recipients. */
  readonly count: number;
  readonly shards: number;
  readonly status: DispatchStatus;
}

/** The batches of large dispatches. Every method throws {@link Unavailable} for trouble that passes. */
export interface BatchRepository {
  /** Reads consistently; undefined once it is expanded. */
  find(key: BatchKey): Promise<FoundBatch | undefined>;
  /** The recipients of a batch; `unreadable`: its object is gone, or holds something else. */
  recipients(batch: FoundBatch): Promise<readonly RecipientInput[] | 'unreadable'>;
  /** Puts those recipients that are not there yet. @returns false: time ran out before all were there */
  putRecipients(
    key: BatchKey,
    recipientInputs: readonly RecipientInput[],
    shards: number,
    now: Instant,
    hasTime: () => boolean,
  ): Promise<boolean>;
  /** Removes an expanded batch, and then its object. */
  remove(key: BatchKey, batch: FoundBatch): Promise<void>;
  /** Removes a batch of a cancelled dispatch unread and counts its recipients as cancelled. @returns false: it was gone */
  drop(key: BatchKey, count: number): Promise<boolean>;
  /** Batches that are left, with their numbers of recipients. */
  left(dispatchId: string): Promise<readonly (BatchKey & { readonly count: number })[]>;
  /**
   * STOPPED, if the dispatch is being sent and the batch still names that object.
   * @returns `not-named`: the batch is expanded; `not-sending`: the dispatch is stopped or over already
   */
  stopUnreadable(key: BatchKey, batch: FoundBatch, now: Instant): Promise<'stopped' | 'not-named' | 'not-sending'>;
}

/** A dispatch as it is changed by a person. */
export interface CommandTarget {
  readonly dispatch: Dispatch;
  /** Number of its newest task; 0: it has none. */
  readonly tasks: number;
}

/** Long work to be done on a dispatch. */
export interface NewTask {
  readonly kind: Command;
  readonly requestedAt: Instant;
  readonly requestedBy: string;
  /** What a resume has to put right; absent when there is nothing. */
  readonly faultCode?: string;
  readonly faultSince?: Instant;
  /** Recipients in which states a retry sends to again, or an export holds; absent: in any. */
  readonly statuses?: readonly RecipientStatus[];
  /** What a person found out about all that are UNKNOWN. */
  readonly word?: Pick<Settlement, 'as' | 'note'>;
}

/** Dispatches as people change them. */
export interface OperateRepository {
  /** Reads consistently. Throws {@link Unavailable}. */
  find(dispatchId: string): Promise<CommandTarget | undefined>;
  /** Whether mails can still be made: the content may have expired. Throws {@link Unavailable}. */
  hasContent(dispatchId: string, now: Instant): Promise<boolean>;
  /**
   * Stores the dispatch's next state and its next task in one write.
   * @returns false: status or generation are no longer those that were read, or it cannot be told; nothing is known to be stored
   */
  start(from: CommandTarget, next: Dispatch, task: NewTask): Promise<boolean>;
}

/** A task that is not done. */
export interface OpenTask extends NewTask {
  /** Where to go on; absent: at the beginning. */
  readonly cursor?: RecipientPosition;
  /** The write that set the cursor. */
  readonly step?: string;
  /** Of an export: its parts so far, and how many recipients they hold. */
  readonly parts?: readonly string[];
  readonly written?: number;
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
  advance(key: TaskKey, task: OpenTask, next: RecipientPosition | undefined, step: string, more?: TaskProgress): Promise<boolean>;
  /** Some whole rows, in any state or one of these, and where the next ones begin. A page may be empty and not be the last. */
  wholeRows(
    dispatch: Pick<Dispatch, 'dispatchId' | 'shards'>,
    statuses: readonly RecipientStatus[] | undefined,
    from: RecipientPosition,
  ): Promise<{ readonly rows: readonly (StoredRecipient | 'broken')[]; readonly next?: RecipientPosition }>;
}

/** What an export has come to. */
export interface TaskProgress {
  readonly parts: readonly string[];
  readonly written: number;
  /** When its file was complete. */
  readonly doneAt?: Instant;
}

/** The files of exports. */
export interface ExportStore {
  /** Keeps recipients as a part of the file. */
  putPart(key: TaskKey, part: string, rows: readonly StoredRecipient[]): Promise<void>;
  /** Makes the file of its parts, in that order. */
  finish(key: TaskKey, parts: readonly string[]): Promise<void>;
}

/** An export as it stands. */
export interface FoundExport {
  readonly statuses?: readonly RecipientStatus[];
  readonly requestedAt: Instant;
  readonly written: number;
  /** Absent while it is not done. */
  readonly doneAt?: Instant;
}

/** Exports as people ask for them. */
export interface ExportRepository {
  /** Undefined: there is no such export. Throws {@link Unavailable}. */
  find(key: TaskKey): Promise<FoundExport | undefined>;
  /** Where the file can be fetched without a token, for a few minutes. */
  address(key: TaskKey): Promise<{ readonly url: string; readonly until: Instant }>;
}
