import { setTimeout as sleep } from 'node:timers/promises';

interface Step {
  readonly what: string;
  readonly byHand: string;
  readonly undo: () => Promise<void>;
}

/** Something that a run could not put back. */
export interface Leftover {
  readonly what: string;
  /** What a person does instead. */
  readonly byHand: string;
}

const TRIES = 3;
const BETWEEN_MS = 2_000;

/** What a run has changed and must put back, whatever happens to it. */
export const createCleanup = (betweenMs = BETWEEN_MS) => {
  const steps = new Set<Step>();

  const attempt = async (step: Step): Promise<boolean> => {
    for (let n = 1; n <= TRIES; n += 1) {
      try {
        await step.undo();
        return true;
      } catch {
        if (n < TRIES) await sleep(betweenMs);
      }
    }
    return false;
  };
  return {
    /** Remembers how to put something back; call it before the change. @returns forgets it again, once it is put back */
    add: (step: Step): (() => void) => {
      steps.add(step);
      return () => {
        steps.delete(step);
      };
    },
    /** What is not yet put back. */
    pending: (): readonly Leftover[] => [...steps],
    /** Puts everything back, the newest first. @returns what could not be put back */
    run: async (): Promise<readonly Leftover[]> => {
      const left: Leftover[] = [];
      for (const step of [...steps].toReversed()) {
        if (await attempt(step)) steps.delete(step);
        else left.push(step);
      }
      return left;
    },
  };
};

/** The cleanup of one run. */
export type Cleanup = ReturnType<typeof createCleanup>;
