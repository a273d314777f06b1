import type { DispatchContent } from '../../domain/dispatch/content.ts';
import type { Dispatch, DispatchStatus } from '../../domain/dispatch/dispatch.ts';
import type { FinalRows, Stop } from '../../domain/dispatch/stop-rule.ts';
import type { Instant } from '../../domain/shared/instant.ts';

/** What a sender asks of a dispatch. */
export interface DispatchRepository {
  /** How the dispatch stands; an active one may be some seconds old, any other is as it is now. */
  status(dispatchId: string): Promise<DispatchStatus | 'unknown-dispatch' | 'unavailable'>;
  /** Adds mails that were refused for good; undefined if the dispatch is not being sent. */
  addRefused(dispatchId: string, count: number): Promise<{ readonly refused: number; readonly dispatch: Dispatch } | undefined>;
  /** The rows that became final since the last resume. */
  finalRows(dispatch: Dispatch): Promise<FinalRows>;
  /** STOPPED, if it is still being sent as it was when it was read. */
  stop(dispatch: Dispatch, stop: Stop, now: Instant): Promise<boolean>;
}

/** The content of dispatches. */
export interface ContentRepository {
  find(
    dispatchId: string,
  ): Promise<DispatchContent | UnreadableContent | 'unknown-dispatch' | 'expired' | 'unavailable' | 'broken'>;
  /**
   * STOPPED, if the dispatch is being sent and its content is still to be found in that object. Throws {@link Unavailable}.
   * @returns whether it was stopped by this call
   */
  stopUnreadable(dispatchId: string, content: UnreadableContent, now: Instant): Promise<boolean>;
}

/** The content's object is gone, or holds something else. */
export interface UnreadableContent {
  readonly unreadable: string;
}
