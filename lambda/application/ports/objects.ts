import type { Instant } from '../../domain/shared/instant.ts';

/** Stores the objects of one try to accept a request. */
export interface ObjectTry {
  /**
   * Stores bytes under a key that no other try writes. Repeats for 3 s after the first failure of the try.
   * @param name of a batch its number, else `content`
   * @returns the whole key. Throws {@link Unavailable}
   */
  put(name: string, body: Uint8Array): Promise<string>;
}

/** Stores what is too large for the table. */
export interface ObjectWriter {
  begin(dispatchId: string): ObjectTry;
}

/** Reads what accept stored. */
export interface ObjectReader {
  /**
   * The bytes, checked against the checksum in their key; `missing`: there is no such object; `altered`: it holds other bytes.
   * Throws {@link Unavailable} for any other failure, which says nothing about the object.
   */
  read(key: string): Promise<Uint8Array | 'missing' | 'altered'>;
}

/** Deletes an object that no item names any more. */
export interface ObjectRemover {
  remove(key: string): Promise<void>;
}

/** An object as the bucket lists it. */
export interface ListedObject {
  readonly key: string;
  readonly storedAt: Instant;
}

/** The objects of this table, in the order of their keys. */
export interface ObjectInventory extends ObjectRemover {
  /** @param after the key after which the page begins; undefined: at the first object. `next` is absent on the last page */
  page(after: string | undefined): Promise<{ readonly objects: readonly ListedObject[]; readonly next?: string }>;
}

/** Where the search for objects that no item names stands. */
export interface OrphanSearch {
  readonly lastAt?: Instant;
  /** Absent: the next search begins at the first object. */
  readonly cursor?: string;
  /** Overdue batches before the cursor; present with it. */
  readonly batchesOverdue?: number;
}

/** What an object holds. */
export type ObjectUse = 'batch' | 'content';

/** The items that name objects, and the state of the search for objects that none of them names. */
export interface OrphanRepository {
  /** What an object holds, by its key; undefined: no version of this code made the key. */
  placeOf(key: string): { readonly dispatchId: string; readonly holds: ObjectUse } | undefined;
  /**
   * Keys of the objects that the batches or the content of a dispatch name, read consistently. `unreadable`: no version of this
   * code wrote one of those items.
   */
  namedObjects(dispatchId: string, holds: ObjectUse): Promise<ReadonlySet<string> | 'unreadable'>;
  /** What cannot be read of it counts as absent. */
  search(): Promise<OrphanSearch>;
  /** Stores where the next search goes on. */
  advance(search: OrphanSearch): Promise<void>;
}
