import type { Addressee } from '../../domain/dispatch/content.ts';
import type { DispatchStatus } from '../../domain/dispatch/dispatch.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { BatchKey } from './ports.ts';

/** A batch that is not expanded yet, and what of its dispatch its expansion needs. */
export interface FoundBatch {
  /** Key of the object that holds the recipients. */
  readonly object: string;
  /** Number of its recipients. */
  readonly count: number;
  readonly shards: number;
  readonly status: DispatchStatus;
}

/** The batches of large dispatches. Every method throws {@link Unavailable} for trouble that passes. */
export interface BatchRepository {
  /** Reads consistently; undefined once it is expanded. */
  find(key: BatchKey): Promise<FoundBatch | undefined>;
  /** The recipients of a batch; `unreadable`: its object is gone, or holds something else. */
  recipients(batch: FoundBatch): Promise<readonly Addressee[] | 'unreadable'>;
  /** Puts those recipients that are not there yet. @returns false: time ran out before all were there */
  putRecipients(
    key: BatchKey,
    addressees: readonly Addressee[],
    shards: number,
    now: Instant,
    hasTime: () => boolean,
  ): Promise<boolean>;
  /** Removes an expanded batch, and then its object. */
  remove(key: BatchKey, batch: FoundBatch): Promise<void>;
  /** Removes a batch of a cancelled dispatch unread and counts its recipients as cancelled. @returns false: it was gone */
  drop(key: BatchKey, count: number): Promise<boolean>;
  /** Batches that are left, with their numbers of recipients. */
  left(dispatchId: string): Promise<readonly (BatchKey & { readonly count: number })[]>;
  /**
   * STOPPED, if the dispatch is being sent and the batch still names that object.
   * @returns `not-named`: the batch is expanded; `not-sending`: the dispatch is stopped or over already
   */
  stopUnreadable(key: BatchKey, batch: FoundBatch, now: Instant): Promise<'stopped' | 'not-named' | 'not-sending'>;
}
