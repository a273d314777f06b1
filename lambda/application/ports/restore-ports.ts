import type { Dispatch } from '../../domain/dispatch/dispatch.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { OpenDispatchRepository } from './ports.ts';

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
