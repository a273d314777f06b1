const KB = 1024;

/** A partition takes 1,000 write units a second, and others write to it too. */
export const ACCEPT_UNITS_PER_PARTITION = 300;

/** One item of a transaction: where it goes, and its size. */
export interface SizedWrite {
  readonly partition: string;
  readonly bytes: number;
}

/** Write units that DynamoDB bills for one item of a transaction: two for each KB that is begun. */
export const transactionUnits = (bytes: number): number => 2 * Math.max(1, Math.ceil(bytes / KB));

/** Write units of a transaction by partition key. */
export const unitsByPartition = (writes: readonly SizedWrite[]): ReadonlyMap<string, number> => {
  const units = new Map<string, number>();
  for (const { partition, bytes } of writes) units.set(partition, (units.get(partition) ?? 0) + transactionUnits(bytes));
  return units;
};

/** Whether one accept may write all of this at once. */
export const fitsPartitions = (writes: readonly SizedWrite[]): boolean =>
  [...unitsByPartition(writes).values()].every((units) => units <= ACCEPT_UNITS_PER_PARTITION);
