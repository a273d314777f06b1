import type { Dispatch, RowCounts } from '../../domain/dispatch/dispatch.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { News } from '../../domain/dispatch/news.ts';
import type { EndingRepository } from './ports.ts';

/** A dispatch right after something was added to its counts. */
export interface CountedDispatch {
  readonly dispatch: Dispatch & RowCounts;
  /** PENDING and PROCESSING together, even if that has drifted below none. */
  readonly openRows: number;
}

/** Dispatches as progress counts them. */
export interface ProgressRepository extends EndingRepository {
  /**
   * Adds to the counts. Of a dispatch whose rows were counted exactly at its end only deliveries are added, and the sweeper
   * counts it anew.
   * @returns undefined when nothing follows: it is at its end, gone, or has no counts to add to
   * @throws Unavailable when it may go well later; anything else would be thrown each time
   */
  add(dispatchId: string, delta: RowCounts, now: Instant): Promise<CountedDispatch | undefined>;
  /** ACCEPTED to IN_PROGRESS. */
  begin(dispatchId: string): Promise<void>;
  /** Whether a retry or a resume that is not done goes on reopening recipients. */
  isReopening(dispatchId: string): Promise<boolean>;
  find(dispatchId: string): Promise<Dispatch | undefined>;
}

/** Whether news was taken; if not, the code of what went wrong. */
export type Published = 'taken' | { readonly code: string };

/** Where others are told of dispatches. */
export interface NewsBoard {
  /** Answers for each; never throws. */
  publish(news: readonly News[]): Promise<Published[]>;
}
