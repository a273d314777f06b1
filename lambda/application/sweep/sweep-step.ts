/** Milliseconds until the invocation is ended from outside. */
export type RemainingMs = () => number;

/** Something else that each pass does, paused or not. One that fails keeps no other from being done. */
export type SweepStep = (remainingMs: RemainingMs) => Promise<void>;

/** Runs steps one after the other. @returns how many failed */
export const runSteps = async (steps: readonly SweepStep[], remainingMs: RemainingMs): Promise<number> => {
  let failed = 0;
  for (const step of steps) {
    await step(remainingMs).catch(() => {
      failed += 1;
    });
  }
  return failed;
};

/**
 * Parts of a pass's time, as the share that must be left for what comes after: what a pass finds must be put back on its way in
 * the same pass.
 */
const LEFT_AFTER = { inspecting: 0.4, requeueing: 0.15, closing: 0.03 } as const;

/** Whether there is time for a part of the pass. */
export type HasTime = (part: keyof typeof LEFT_AFTER) => boolean;

/** Divides the time that is left now among the parts of a pass. */
export const shareTime = (remainingMs: RemainingMs): HasTime => {
  const all = remainingMs();
  return (part) => remainingMs() > all * LEFT_AFTER[part];
};
