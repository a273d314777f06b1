import type { NewDispatch } from '../../../application/ports/accept-ports.ts';
import type { ObjectTry, ObjectWriter } from '../../../application/ports/list-ports.ts';
import type { Addressee } from '../../../domain/dispatch/content.ts';
import { STORAGE_LIMITS } from '../../../domain/dispatch/dispatch-request.ts';
import type { Item, Layout } from './dispatch-layout.ts';
import { inParallel } from '../client/in-parallel.ts';
import { batchKey, contentKey } from '../client/keys.ts';
import { packBatch } from '../recipient/packing.ts';

type Laid = Extract<Layout, { ok: true }>;

/** A batch takes up to some MB while it is packed, so few are in memory at once. */
const OBJECTS_AT_ONCE = 8;

/** Whether something of a dispatch must be stored as an object before its transaction. */
export const needsObjects = ({ isContentLarge, rows }: Laid): boolean => isContentLarge || rows === undefined;

/** Stores the objects of a new dispatch. @returns the items of its transaction, the dispatch first. Throws {@link Unavailable} */
export const storeObjects = async (writer: ObjectWriter, { dispatch: { dispatchId }, recipients }: NewDispatch, layout: Laid) => {
  const objects = writer.begin(dispatchId);
  const content: Item = layout.isContentLarge
    ? { ...contentKey(dispatchId), object: await objects.put('content', layout.content) }
    : { ...contentKey(dispatchId), data: layout.content };
  const rows = layout.rows ?? (await storeBatches(objects, dispatchId, recipients));
  return [layout.dispatch, content, ...rows];
};

const storeBatches = (objects: ObjectTry, dispatchId: string, recipients: readonly Addressee[]): Promise<Item[]> =>
  inParallel(cut(recipients), OBJECTS_AT_ONCE, async (batch, i) => ({
    ...batchKey(dispatchId, i),
    object: await objects.put(String(i), await packBatch(batch)),
    count: batch.length,
  }));

const byApplyId = (a: Addressee, b: Addressee): number => (a.applyId < b.applyId ? -1 : Number(a.applyId > b.applyId));

/** The order in the request makes no difference to what is stored. */
const cut = (recipients: readonly Addressee[]): Addressee[][] => {
  const sorted = recipients.toSorted(byApplyId);
  const size = STORAGE_LIMITS.batchRecipients;
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, i) => sorted.slice(i * size, (i + 1) * size));
};
