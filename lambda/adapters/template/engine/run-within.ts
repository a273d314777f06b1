import { createContext, Script } from 'node:vm';

const TIMED_OUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

const script = new Script('work()');

/**
 * Does synchronous work and stops it when the time is up: a template with loops in loops could otherwise run for
 * hours. The context is no sandbox; it only brings the timer that can interrupt running code.
 */
export const within = <T>(ms: number, work: () => T): { readonly done: true; readonly result: T } | { readonly done: false } => {
  let outcome: { readonly done: true; readonly result: T } | { readonly done: false } = { done: false };
  const context = createContext({
    work: () => {
      outcome = { done: true, result: work() };
    },
  });
  try {
    script.runInContext(context, { timeout: ms });
    return outcome;
  } catch (error) {
    // Made in the other context, it is no instance of our Error.
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === TIMED_OUT) return { done: false };
    throw error;
  }
};
