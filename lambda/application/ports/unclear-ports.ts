import type { Instant } from '../../domain/shared/instant.ts';
import type { UnclearAttempt, WaitingClock } from '../../domain/recipient/unclear.ts';

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
