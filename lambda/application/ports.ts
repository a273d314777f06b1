import type { Attempt } from '../domain/attempt.ts';
import type { Addressee, DispatchContent, RenderedMail } from '../domain/content.ts';
import type { Counts, Dispatch } from '../domain/dispatch.ts';
import type { Instant } from '../domain/instant.ts';
import type { In, Lease, Recipient, RecipientKey } from '../domain/recipient.ts';
import type { SendAnswer } from '../domain/send-answer.ts';

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
}

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
  /** FAILED to PENDING, as long as it is still the failure that was read. */
  reopen(key: RecipientKey, from: In<'FAILED'>, next: Recipient): Promise<WriteResult>;
}

/** The content of dispatches. */
export interface ContentRepository {
  find(dispatchId: string): Promise<DispatchContent | 'unknown-dispatch' | 'expired' | 'unavailable' | 'broken'>;
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
  /** Mails per second that the account allows, as far as known. */
  maxSendRate(): Promise<number>;
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
  expand(batches: readonly BatchKey[]): Promise<boolean[]>;
}

/** Names one batch of recipients of a large dispatch. */
export interface BatchKey {
  readonly dispatchId: string;
  readonly batch: number;
}

/** The batches of large dispatches. */
export interface BatchRepository {
  /** The recipients of a batch and over how many shards they go; undefined once it is expanded. */
  find(key: BatchKey): Promise<{ readonly addressees: readonly Addressee[]; readonly shards: number } | undefined>;
  /** Puts those recipients that are not there yet. */
  putRecipients(key: BatchKey, addressees: readonly Addressee[], shards: number, now: Instant): Promise<void>;
  remove(key: BatchKey): Promise<void>;
}

/** What the sweeper reads of a dispatch's rows. */
export interface RowsSeen {
  readonly counts: Counts;
  /** PENDING and due, or PROCESSING past the lease; the longest overdue first. */
  readonly overdue: readonly { readonly key: RecipientKey; readonly since: Instant }[];
}

/** Dispatches that are not finished. */
export interface OpenDispatchRepository {
  /** One that cannot be read must not keep the others from being looked at. */
  open(): AsyncIterable<(Dispatch & SweepMarks) | 'unreadable'>;
  batches(dispatchId: string): Promise<readonly BatchKey[]>;
  rows(dispatch: Pick<Dispatch, 'dispatchId' | 'shards'>, now: Instant): Promise<RowsSeen>;
  /** Stores what was seen, so that the next pass can tell whether the dispatch moves; nothing if it is finished by now. */
  mark(
    dispatchId: string,
    seen: { readonly counts: Counts; readonly lastProgressAt: Instant; readonly visitedAt: Instant },
  ): Promise<void>;
  /** COMPLETED, as long as status and generation are those that were read. */
  complete(dispatch: Dispatch, counts: Counts, now: Instant): Promise<boolean>;
}

/** When the sweeper last looked at the rows of a dispatch. */
export interface SweepMarks {
  readonly visitedAt?: Instant;
}
