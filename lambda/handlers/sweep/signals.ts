import type { OrphanReport } from '../../application/sweep/delete-orphans.ts';
import type { RestoreReport } from '../../application/sweep/stop-restored.ts';
import type { Account } from '../../domain/sending/account.ts';
import { redactError } from '../../observability/redact-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

/** Logs when SES did not describe the account; what it answered is in the metrics of the pass. */
export const createAccountObserver =
  ({ logger }: Telemetry) =>
  (result: Account | { readonly error: unknown }): void => {
    if ('error' in result) logger.warn('account not read', redactError(result.error));
  };

/** Logs what a search for objects without an item came to, and counts overdue batches: 0 ends the alarm, so a part of a search never says it. */
export const createOrphanObserver =
  ({ logger, count }: Telemetry) =>
  (report: OrphanReport): void => {
    const isTrouble = report.batchesOverdue > 0 || report.unknown > 0;
    logger[isTrouble ? 'warn' : 'info']('objects', { ...report });
    if (report.isWhole || report.batchesOverdue > 0) count('BatchOverdue', report.batchesOverdue);
    if (report.deleted > 0) count('OrphanDeleted', report.deleted);
  };

/** Logs that the table was restored, and counts the dispatches that were stopped for it. */
export const createRestoreObserver =
  ({ logger, count }: Telemetry) =>
  (report: RestoreReport): void => {
    logger.warn('table restored', { ...report });
    if (report.stopped > 0) count('DispatchStopped', report.stopped);
  };
