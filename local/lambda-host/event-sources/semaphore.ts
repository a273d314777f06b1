/** Lets a fixed number of holders in at a time. */
export interface Semaphore {
  readonly take: () => Promise<void>;
  readonly giveBack: () => void;
  /** Settles when nobody holds a slot. */
  readonly allFree: () => Promise<void>;
}

/** Makes that many slots. */
export const createSemaphore = (size: number): Semaphore => {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const idle: (() => void)[] = [];
  return {
    take: () =>
      new Promise((resolve) => {
        if (taken < size) {
          taken += 1;
          resolve();
        } else waiting.push(resolve);
      }),
    giveBack: () => {
      const next = waiting.shift();
      if (next) {
        next();
        return;
      }
      taken -= 1;
      if (taken === 0) for (const resolve of idle.splice(0)) resolve();
    },
    allFree: () =>
      taken === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            idle.push(resolve);
          }),
  };
};
