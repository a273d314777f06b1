import type { Dispatch } from '../../domain/dispatch/dispatch.ts';
import type { UnclearAttempt, WaitingClock } from '../../domain/recipient/unclear.ts';
import type { Account } from '../../domain/sending/account.ts';
import type { Sending } from '../../domain/sending/pause.ts';
import type { SendAnswer } from '../../domain/sending/send-answer.ts';
import type { SesReadKind } from '../../domain/sending/ses-reads.ts';
import type { FeedbackState, UnappliedEvent } from '../../domain/sending/watermark.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { OpenDispatchRepository } from './progress.ts';

/** A slot to ask SES in; or when a slot may be free. */
export type SlotResult =
  | {
      readonly isBooked: true;
      /** When the call may begin. */
      readonly at: Instant;
      /** How long a template read in this slot counts as current. */
      readonly freshSeconds: number;
    }
  | { readonly isBooked: false; readonly retryAt: Instant };

/** The account's budget of one SES read a second, shared by all functions. */
export interface SesReadBudget {
  /**
   * Books a slot. Throws when the table gives no answer.
   * @param template names the template of a `known-template` read
   */
  book(kind: SesReadKind, template?: string): Promise<SlotResult>;
}

/** The account item: one for all functions. */
export interface AccountRepository {
  /** Undefined: nobody has stored it yet, or it cannot be read. */
  read(): Promise<Account | undefined | 'unavailable'>;
  /** Stores it unless a later answer of SES is there. */
  store(account: Account): Promise<void>;
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
export interface SweepStates {
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

/**
 * Whose items the table holds: `own`; `restored`, those of another table, whose open dispatches are not stopped yet;
 * `unrecorded`, nobody has said so far, as in a new table.
 */
export type TableOrigin = 'own' | 'restored' | 'unrecorded';

/** Tells a restored table from the table whose items it was restored with. */
export interface TableIdentity {
  /** Passing trouble is `unavailable`. */
  origin(): Promise<TableOrigin | 'unavailable'>;
  /** From now on the items are this table's own. */
  adopt(): Promise<void>;
}

/** The dispatches of a restored table. */
export interface RestoredRepository extends Pick<OpenDispatchRepository, 'open' | 'tasks'> {
  /** STOPPED `table-restored`, if it is being sent or COMPLETED, and was not resumed since it was read. @returns whether it was stopped by this call */
  stopRestored(dispatch: Dispatch, now: Instant): Promise<boolean>;
}

/** Attempts that are due, few enough to be handled side by side, and where the ledger goes on after them. */
export interface LedgerPage {
  readonly items: readonly UnclearAttempt[];
  /** Items beside them that no version of this code wrote. They stay for a person. */
  readonly unreadable: number;
  readonly position: string;
}

/** The ledger of unclear attempts: one small item each, named by the row, the lease and its end alone. */
export interface UnclearLedger {
  /** Puts attempts on the ledger; one that is there already stays as it is. @returns for each whether it stands; never throws */
  add(attempts: readonly Pick<UnclearAttempt, 'key' | 'lease' | 'dueAt'>[]): Promise<boolean[]>;
  /** Those whose lease is over, page by page. @param after where an earlier walk ended */
  due(now: Instant, after: string | undefined): AsyncIterable<LedgerPage>;
  /** Remembers what a walk found out about an attempt; nothing if it is not there any more. */
  note(attempt: UnclearAttempt): Promise<void>;
  remove(attempt: UnclearAttempt): Promise<void>;
  /** How many there are, due or not. */
  size(): Promise<number>;
}

/** What one walk leaves for the next. */
export interface WalkState extends WaitingClock {
  /** Where a walk ran out of time. */
  readonly position?: string;
}

/** The control item of the walks. Methods throw when the table does not answer. */
export interface WalkRepository {
  read(): Promise<WalkState>;
  /** Stores the clock if no other walk moved it since `was` was read. */
  moveClock(next: WaitingClock, was: WaitingClock): Promise<boolean>;
  /** @param position undefined: the walk reached the end */
  keepPosition(position: string | undefined): Promise<void>;
  /** The right to send the next canary, if the last one is old enough. */
  bookCanary(now: Instant, apartSeconds: number): Promise<boolean>;
  /** @param canaries all to keep */
  keepCanaries(canaries: WaitingClock['canaries']): Promise<void>;
}
