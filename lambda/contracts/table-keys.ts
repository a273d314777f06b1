/** Beginnings of the sort keys of items that consumers of the stream read: the stream's filters, the relay and progress. */
export const RECIPIENT_PREFIX = 'RECIPIENT#';
export const BATCH_PREFIX = 'BATCH#';
export const TASK_PREFIX = 'TASK#';

/** Beginning of the partition keys of a dispatch: `DISPATCH#<id>`, and `DISPATCH#<id>#<shard>` of its recipients. */
export const DISPATCH_PREFIX = 'DISPATCH#';
/** Sort key of the dispatch itself. */
export const DISPATCH_SORT_KEY = 'DISPATCH';

/** Beginning of the partition keys of the ledger of unclear attempts. */
export const UNCLEAR_PREFIX = 'UNCLEAR#';

/** Partition key of the items that are about the whole service. */
export const CONTROL_PARTITION = 'CONTROL';
