import type { TemplateCopy } from '../../domain/dispatch/template-copy.ts';
import type { Instant } from '../../domain/shared/instant.ts';

/** How a scenario's copy stands in the table. */
export interface StoredCopy {
  /** Absent: there is none, or its content has expired. */
  readonly copy?: TemplateCopy;
  /** When the latest stored fetch began. */
  readonly fetchedAt?: Instant;
  /** Whether SES had a template for the scenario at the latest fetch. */
  readonly isKnown: boolean;
  /** A caller asks SES until then; absent: nobody does. */
  readonly leaseUntil?: Instant;
}

/** The copies of templates that all functions share. Every call throws `Unavailable` when the table gives no answer. */
export interface TemplateCopies {
  find(scenarioId: string): Promise<StoredCopy>;
  /** The right to renew the copy, if it is still the one that was read and nobody else has the right at `now`. */
  lease(scenarioId: string, read: StoredCopy, until: Instant, now: Instant): Promise<boolean>;
  /** Moves the end of the caller's own lease; nothing if it has lost it. */
  prolong(scenarioId: string, lease: { readonly from: Instant; readonly until: Instant }): Promise<void>;
  /** Ends the caller's own lease without a copy. */
  release(scenarioId: string, until: Instant): Promise<void>;
  /** Stores a copy and ends the lease. @returns the copy in force: one whose fetch began later stays */
  store(scenarioId: string, copy: TemplateCopy): Promise<TemplateCopy>;
}
