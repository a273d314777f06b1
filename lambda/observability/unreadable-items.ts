import { neverThrow, type Telemetry } from './telemetry.ts';

/** Logs and counts items of the table that no version of this code wrote, and that are replaced. */
export const createUnreadableObserver = ({ logger, count }: Telemetry): ((item: string) => void) =>
  neverThrow((item: string) => {
    count('ItemUnreadable');
    logger.warn('unreadable item', { item });
  });
