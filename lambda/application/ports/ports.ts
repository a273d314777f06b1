import type { Attempt } from '../../domain/recipient/attempt.ts';
import type { Addressee, DispatchContent, RenderedMail } from '../../domain/dispatch/content.ts';
import type { DeliveryState, MailEvent } from '../../domain/recipient/delivery.ts';
import type { Counts, Dispatch, DispatchStatus, RowCounts } from '../../domain/dispatch/dispatch.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { Sending } from '../../domain/sending/pause.ts';
import type { In, Lease, Recipient, RecipientKey } from '../../domain/recipient/recipient.ts';
import type { SendAnswer } from '../../domain/sending/send-answer.ts';
import type { Settlement } from '../../domain/recipient/settlement.ts';
import type { BounceStatistics, FinalRows, Stop } from '../../domain/dispatch/stop-rule.ts';
import type { FeedbackState, UnappliedEvent } from '../../domain/sending/watermark.ts';

/** The time now; passed in so that tests own it. */
export type Clock = () => Instant;

/** From 0 up to 1. */
export type Random = () => number;

/** A random id, unique for ever. */
export type NewId = () => string;

export type Sleep = (ms: number) => Promise<void>;

/** A recipient as it is stored. */
export interface StoredRecipient extends Addressee {
  readonly recipient: Recipient;
  readonly attempts: readonly Attempt[];
  readonly delivery: DeliveryState;
  /** The newest ones, by time. */
  readonly events: readonly MailEvent[];
  /** A person's word on a mail whose outcome nobody could tell. */
  readonly settled?: Settlement;
}

/** What of a stored recipient may change without a lease. */
export type Amendment = Pick<StoredRecipient, 'recipient' | 'attempts' | 'delivery' | 'events' | 'settled'>;

/** The right to send was granted, and this is what to send. */
export interface ClaimedRecipient extends StoredRecipient {
  readonly recipient: In<'PROCESSING'>;
}

export type ClaimResult =
  | { readonly outcome: 'claimed'; readonly claimed: ClaimedRecipient }
  | { readonly outcome: 'refused'; readonly found: StoredRecipient | undefined }
  /** The table did not answer for this one: whether it was claimed is open, so nothing is sent. */
  | { readonly outcome: 'unavailable' }
  /** No version of this code can read or write this row; only a person can help. */
  | { readonly outcome: 'broken' };

/** A change of a recipient that stands only while that worker's lease does. */
export interface RecipientWrite {
  readonly key: RecipientKey;
  /** The lease token the row must still have, in PROCESSING. */
  readonly token: string;
  readonly next: Recipient;
  readonly attempts: readonly Attempt[];
}

export type WriteResult = 'written' | 'lease-lost' | 'unavailable';

/** The recipients of dispatches. */
export interface RecipientRepository {
  /** Takes the leases, each for itself: PENDING, and due. Losing a race is an answer, not an error. */
  claimAll(claims: readonly { readonly key: RecipientKey; readonly lease: Lease }[], now: Instant): Promise<ClaimResult[]>;
  /** Writes the outcomes, each for itself, in the order given. */
  writeAll(writes: readonly RecipientWrite[]): Promise<WriteResult[]>;
  /** The row as it is; `unavailable`: it cannot be told. */
  find(key: RecipientKey): Promise<StoredRecipient | undefined | 'unavailable'>;
  /**
   * FAILED or UNKNOWN to PENDING together with its dispatch, as long as it is still the failure that was read. A STOPPED
   * dispatch stays so.
   * @param dispatch the dispatch's state as last seen; another one by now is answered `lease-lost`
   */
  reopen(key: RecipientKey, from: In<'FAILED' | 'UNKNOWN'>, next: Recipient, dispatch: DispatchStatus): Promise<WriteResult>;
  /** PENDING to CANCELLED; nothing if it is PENDING no more. */
  cancel(key: RecipientKey, now: Instant): Promise<WriteResult>;
  /**
   * Reads the row, asks what it should be, and writes that unless somebody changed it meanwhile: then again. `change` may
   * be called several times; undefined leaves the row alone. A final row that changes its state has its dispatch looked
   * over again by the sweeper. `unreadable`: no version of this code wrote the row, so asking again does not help.
   */
  amend(
    key: RecipientKey,
    change: (row: StoredRecipient) => Amendment | undefined,
  ): Promise<'written' | 'unchanged' | 'gone' | 'unavailable' | 'unreadable'>;
}

/** What a sender asks of a dispatch. */
export interface DispatchRepository {
  /** How the dispatch stands; an active one may be some seconds old, any other is as it is now. */
  status(dispatchId: string): Promise<DispatchStatus | 'unknown-dispatch' | 'unavailable'>;
  /** Adds mails that were refused for good; undefined if the dispatch is not being sent. */
  addRefused(dispatchId: string, count: number): Promise<{ readonly refused: number; readonly dispatch: Dispatch } | undefined>;
  /** The rows that became final since the last resume. */
  finalRows(dispatch: Dispatch): Promise<FinalRows>;
  /** STOPPED, if it is still being sent as it was when it was read. */
  stop(dispatch: Dispatch, stop: Stop, now: Instant): Promise<boolean>;
}

/** Whether the account may send: one small item for all senders. */
export interface SendingRepository {
  read(): Promise<Sending | 'unavailable'>;
  /** Stores the next state if nobody stored another since the one before it. */
  change(next: Sending): Promise<boolean>;
}

/** A canary that asked whether the account sends, and what SES answered. */
export interface CanaryResult {
  /** When its call began: it says nothing about refusals that came later. */
  readonly beganAt: Instant;
  readonly answer: SendAnswer;
}

/** What senders tell one another about canaries: one small item. Passing trouble is an answer. */
export interface CanaryRepository {
  /** The newest result; undefined: none, or the table does not say. */
  newest(): Promise<CanaryResult | undefined>;
  /** The right to send the next canary, if the last one was booked long enough ago. */
  book(now: Instant, apartSeconds: number): Promise<boolean>;
  /** Shares a result, unless a newer one is there. */
  record(result: CanaryResult): Promise<void>;
  /** Adds an environment whose credentials were refused. @returns how many different ones there were within 5 min; 0: the table does not say */
  noteCredentials(environment: string, now: Instant): Promise<number>;
}

/** When the sweeper last looked over everything; undefined: never. */
export interface SweepTraces {
  lastPassAt(): Promise<Instant | undefined | 'unavailable'>;
  /** A round is finished. */
  passed(at: Instant): Promise<void>;
  /** When the round began that goes on in this pass; undefined: none does. */
  openRound(): Promise<Instant | undefined>;
  /** Remembers a round that goes on in the next pass. @param progressAt when this pass inspected a dispatch; undefined: it inspected none */
  keepRound(since: Instant, progressAt: Instant | undefined): Promise<void>;
  /** When a pass last inspected a dispatch of a round that is not finished; undefined: none did. */
  roundProgressAt(): Promise<Instant | undefined>;
  /**
   * Remembers when SES took the newest mail of which an event is due. @param seen what a pass saw of it; undefined: nothing
   * @returns the newest of all passes
   */
  newestSent(seen: Instant | undefined): Promise<Instant | undefined>;
}

/** How far SES's events have been applied. */
export interface FeedbackRepository {
  read(): Promise<FeedbackState | 'unavailable'>;
  /** Keeps events that could not be applied; false: there is no room or no answer, and the watermark must stay where it is. */
  addUnapplied(events: readonly UnappliedEvent[], now: Instant): Promise<boolean>;
  /** Removes the entries of attempts whose events were applied. */
  removeUnapplied(leases: readonly string[]): Promise<void>;
  /** Remembers that feedback was behind then; false: no answer, and the watermark must stay where it is. */
  recordBehind(at: Instant): Promise<boolean>;
  /** Moves the watermark on, never back. */
  moveWatermark(to: Instant): Promise<void>;
}

/** The content of dispatches. */
export interface ContentRepository {
  find(
    dispatchId: string,
  ): Promise<DispatchContent | UnreadableContent | 'unknown-dispatch' | 'expired' | 'unavailable' | 'broken'>;
  /**
   * STOPPED, if the dispatch is being sent and its content is still to be found in that object. Throws {@link Unavailable}.
   * @returns whether it was stopped by this call
   */
  stopUnreadable(dispatchId: string, content: UnreadableContent, now: Instant): Promise<boolean>;
}

/** The content's object is gone, or holds something else. */
export interface UnreadableContent {
  readonly unreadable: string;
}

/** Turns a dispatch's content into the mail of one recipient. */
export interface MailRenderer {
  /** The mail, or the code of what is wrong with it; never a value in it. */
  render(
    dispatchId: string,
    content: DispatchContent,
    addressee: Addressee,
  ): { readonly ok: true; readonly mail: RenderedMail } | { readonly ok: false; readonly code: string };
}

/** Names the attempt in every event that SES publishes about the mail. */
export interface SendTags extends RecipientKey {
  readonly round: number;
  readonly attempt: number;
  readonly lease: string;
}

/** A mail and its two ends. */
export interface OutgoingMail extends RenderedMail {
  readonly from: string;
  readonly replyTo?: string;
  readonly to: string;
}

/** SES. */
export interface MailProvider {
  /** At most one call; every way it can end is an answer. */
  send(mail: OutgoingMail, tags: SendTags): Promise<SendAnswer>;
  /**
   * A mail to SES's simulator, sent only so that SES publishes an event or shows whether it takes mails.
   * @param from as it goes into the header, formatted like the From of mails
   * @param configurationSet by default that of mails
   */
  sendCanary(from: string, configurationSet?: string): Promise<SendAnswer>;
}

/** The messages of the send queue. */
export interface SendQueue {
  /** New messages, each with an id of its own. @returns for each whether the queue has it; never throws */
  send(messages: readonly { readonly key: RecipientKey; readonly delaySeconds: number }[]): Promise<boolean[]>;
  /** Hides messages for a time; whatever fails leaves the queue's own visibility in force. */
  hide(messages: readonly { readonly receiptHandle: string; readonly seconds: number }[]): Promise<void>;
  /** What the queue holds: visible, delayed or in flight. */
  depth(): Promise<number>;
}

/** The messages of the task queue. */
export interface TaskQueue {
  /** @returns for each whether the queue has it; never throws */
  expand(batches: readonly BatchKey[], delaySeconds?: number): Promise<boolean[]>;
  /** @returns for each whether the queue has it; never throws */
  carryOut(tasks: readonly TaskKey[], delaySeconds?: number): Promise<boolean[]>;
}

/** Names one piece of long work on a dispatch. */
export interface TaskKey {
  readonly dispatchId: string;
  readonly task: number;
}

/** Names one batch of recipients of a large dispatch. */
export interface BatchKey {
  readonly dispatchId: string;
  readonly batch: number;
}

/** A batch that is not expanded yet. */
export interface BatchLeft extends BatchKey {
  /** Its recipients. */
  readonly count: number;
}

/** A row that is not final. */
export type OpenRowStatus = 'PENDING' | 'PROCESSING';

/** Where to go on reading overdue rows: those that were overdue at `until`, from there in the order of their keys. */
export interface OverduePosition {
  readonly until: Instant;
  readonly shard: number;
  /** The applyId before the next row; absent: from the beginning of the shard. */
  readonly after?: string;
}

/** A row that should have had a message long ago. */
export interface OverdueRow {
  readonly key: RecipientKey;
  readonly since: Instant;
  readonly status: OpenRowStatus;
}

/** What is read of a dispatch's rows. */
export interface RowsSeen extends RowCounts {
  /**
   * The rows that were not reopened since the last end of the dispatch, by their status; absent while there was no end and
   * the dispatch is so young that no row can have expired.
   */
  readonly frozen?: Counts;
  /** Since the last resume, or since it was taken up again. */
  readonly bounceStatistics: BounceStatistics;
  /** Since when the longest overdue row waits: PENDING and due, or PROCESSING past the lease. */
  readonly overdueSince: { readonly [S in OpenRowStatus]?: Instant };
  /** When SES took the newest mail; absent: it took none. */
  readonly newestSentAt?: Instant;
  /** When it was last known what became of a mail, taken or not. */
  readonly newestOutcomeAt?: Instant;
}

/** Dispatches that may be at their end. Whatever is written stands on what was read before. */
export interface EndingRepository {
  batches(dispatchId: string): Promise<readonly BatchLeft[]>;
  /** Throws once there is no time. */
  rows(
    dispatch: Pick<Dispatch, 'dispatchId' | 'shards' | 'createdAt' | 'resumedAt' | 'statisticsSince' | 'frozenGeneration'>,
    now: Instant,
    hasTime: () => boolean,
  ): Promise<RowsSeen>;
  /** Puts exact counts in place of those kept, unless progress counted since the dispatch was read or it is finished. */
  recount(dispatch: Dispatch, rows: RowCounts, lastProgressAt: Instant): Promise<boolean>;
  /** COMPLETED, as long as it is being sent in the generation that was read. It stays open until the sweeper has seen it so. */
  complete(dispatch: Dispatch, rows: RowCounts, now: Instant): Promise<boolean>;
  /** A CANCELLED dispatch has no open row any more. It stays open as well. */
  close(dispatch: Dispatch, rows: RowCounts, now: Instant): Promise<boolean>;
  /** STOPPED, if it is still being sent as it was when it was read. */
  stop(dispatch: Dispatch, stop: Stop, now: Instant): Promise<boolean>;
}

/** Dispatches that are not finished. */
export interface OpenDispatchRepository extends EndingRepository {
  /** One that cannot be read must not keep the others from being looked at. */
  open(): AsyncIterable<(Dispatch & SweepMarks) | 'unreadable'>;
  /** Tasks that are not done. */
  tasks(dispatchId: string): Promise<readonly TaskKey[]>;
  /** Some rows in these states that were overdue, read consistently, and where the next ones begin. A page may be empty and not be the last. */
  overdueRows(
    dispatch: Pick<Dispatch, 'dispatchId' | 'shards'>,
    statuses: readonly OpenRowStatus[],
    from: OverduePosition,
  ): Promise<{ readonly rows: readonly OverdueRow[]; readonly next?: OverduePosition }>;
  /** Remembers where the next pass goes on re-enqueueing; undefined: nothing is left. Nothing if the dispatch is open no more. */
  keepRequeue(dispatchId: string, from: OverduePosition | undefined): Promise<void>;
  /** Remembers a visit; nothing if the dispatch is open no more. */
  mark(dispatch: Dispatch & SweepMarks, visitedAt: Instant): Promise<void>;
  /**
   * Gives a finished dispatch its counts anew and remembers the visit, as long as no row was reopened or changed, progress
   * counted nothing and no task was begun since it was read.
   * @param isLast nobody need look at it any more
   */
  settle(dispatch: Dispatch & SweepMarks, rows: RowCounts, visitedAt: Instant, isLast: boolean): Promise<boolean>;
}

/** What the sweeper last saw of a dispatch, and what it needs beside the dispatch itself. */
export interface SweepMarks {
  /** When it looked at the rows. */
  readonly visitedAt?: Instant;
  /** The dispatch's generation then, and how many tasks had been begun. */
  readonly visitedGeneration?: number;
  readonly visitedTasks?: number;
  /** Tasks that were begun up to now. */
  readonly tasks?: number;
  /** Overdue rows from there on got no message yet: there was no time, or the queue seemed to hold enough. */
  readonly requeueFrom?: OverduePosition;
}
