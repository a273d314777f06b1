import type { Instant } from '../shared/instant.ts';

/** What a person said of a mail whose outcome nobody could tell. */
export interface Settlement {
  readonly as: 'sent' | 'failed';
  readonly who: string;
  readonly at: Instant;
  /** How the person knows. */
  readonly note: string;
}
