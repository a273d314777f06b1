/** Maps items, so many at once and each in its turn; after a failure no further one is begun, and the first error is thrown. */
export const inParallel = async <T, R>(
  items: readonly T[],
  atOnce: number,
  map: (item: T, i: number) => Promise<R>,
): Promise<R[]> => {
  const results = new Map<number, R>();
  const queue = items.entries();
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (const [i, item] of queue) {
      if (hasFailed) return;
      try {
        results.set(i, await map(item, i));
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return [...results.entries()].sort(([a], [b]) => a - b).map(([, result]) => result);
};
