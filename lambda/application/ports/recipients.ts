import type { RecipientInput } from '../../domain/dispatch/content.ts';
import type { DispatchStatus } from '../../domain/dispatch/dispatch.ts';
import type { Attempt } from '../../domain/recipient/attempt.ts';
import type { DeliveryState, MailEvent } from '../../domain/recipient/delivery.ts';
import type { Lease, Recipient, RecipientIn, RecipientKey } from '../../domain/recipient/recipient.ts';
import type { Settlement } from '../../domain/recipient/settlement.ts';
import type { Instant } from '../../domain/shared/instant.ts';

/** A recipient as it is stored. */
export interface StoredRecipient extends RecipientInput {
  readonly recipient: Recipient;
  readonly attempts: readonly Attempt[];
  readonly delivery: DeliveryState;
  /** The newest ones, by time. */
  readonly events: readonly MailEvent[];
  /** A person's word on a mail whose outcome nobody could tell. */
  readonly settled?: Settlement;
}

/** What of a stored recipient may change without a lease. */
export type Patch = Pick<StoredRecipient, 'recipient' | 'attempts' | 'delivery' | 'events' | 'settled'>;

/** The right to send was granted, and this is what to send. */
export interface ClaimedRecipient extends StoredRecipient {
  readonly recipient: RecipientIn<'PROCESSING'>;
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

export type WriteResult = 'written' | 'conflict' | 'unavailable';

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
   * @param dispatch the dispatch's state as last seen; another one by now is answered `conflict`
   */
  reopen(
    key: RecipientKey,
    from: RecipientIn<'FAILED' | 'UNKNOWN'>,
    next: Recipient,
    dispatch: DispatchStatus,
  ): Promise<WriteResult>;
  /** PENDING to CANCELLED; nothing if it is PENDING no more. */
  cancel(key: RecipientKey, now: Instant): Promise<WriteResult>;
  /**
   * Reads the row, asks what it should be, and writes that unless somebody changed it meanwhile: then again. `change` may
   * be called several times; undefined leaves the row alone. A final row that changes its state has its dispatch looked
   * over again by the sweeper. `unreadable`: no version of this code wrote the row, so asking again does not help.
   */
  applyPatch(
    key: RecipientKey,
    change: (row: StoredRecipient) => Patch | undefined,
  ): Promise<'written' | 'unchanged' | 'gone' | 'unavailable' | 'unreadable'>;
}
