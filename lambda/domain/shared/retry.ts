import type { Instant } from './instant.ts';

/** How long, and how often, something is tried again. Without `tries` only the time ends it. */
export interface RetryPolicy {
  /** Calls in all. */
  readonly tries?: number;
  /** Longest wait after the first call, doubled after each further one, in milliseconds. */
  readonly baseMs: number;
  /** No wait is longer. */
  readonly capMs?: number;
  /** No wait ends later; asked before each wait. */
  readonly giveUpAt?: () => Instant;
}

export interface RetryDeps {
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Needed for `giveUpAt`. */
  readonly clock?: () => Instant;
}

/** What one call came to: a result, or a failure that another call may not meet. */
export type Tried<T, F> = { readonly done: true; readonly result: T } | { readonly done: false; readonly failure: F };

/** The wait after call number `n` (from 1): half of it is fixed and half is jitter, so that callers who met do not meet again. */
export const retryWaitMs = ({ baseMs, capMs = Infinity }: RetryPolicy, n: number, random: number): number =>
  Math.min(capMs, baseMs * 2 ** (n - 1)) * (0.5 + random / 2);

/**
 * Calls again after a wait until a result comes or the policy ends it. Whatever a call throws ends it, too.
 * @returns the result, or the failure of the last call
 */
export const retry = async <T, F>(
  { random, sleep, clock }: RetryDeps,
  policy: RetryPolicy,
  call: (n: number) => Promise<Tried<T, F>>,
): Promise<Tried<T, F>> => {
  for (let n = 1; ; n += 1) {
    const tried = await call(n);
    if (tried.done || n >= (policy.tries ?? Infinity)) return tried;
    const waitMs = retryWaitMs(policy, n, random());
    if (policy.giveUpAt !== undefined && clock !== undefined && clock() + waitMs > policy.giveUpAt()) return tried;
    await sleep(waitMs);
  }
};

/** For calls that each do a part of many: done when nothing is open. */
export const isAllDone = (open: readonly unknown[]): Tried<void, void> =>
  open.length === 0 ? { done: true, result: undefined } : { done: false, failure: undefined };
