import type { Account } from '../../domain/sending/account.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { SesReadKind } from '../../domain/sending/ses-reads.ts';

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

/** SES's GetAccount, one call. */
export interface AccountSource {
  /** Throws when SES gives no answer. */
  ask(): Promise<Omit<Account, 'fetchedAt'>>;
}
