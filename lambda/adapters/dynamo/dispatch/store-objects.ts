import type { NewDispatch } from '../../../application/ports/accept.ts';
import type { ObjectTry, ObjectWriter } from '../../../application/ports/objects.ts';
import type { RecipientInput } from '../../../domain/dispatch/content.ts';
import { STORAGE_LIMITS } from '../../../domain/dispatch/dispatch-request.ts';
import { encodeBatch } from '../client/codec.ts';
import { inParallel } from '../client/in-parallel.ts';
import { batchKey, contentKey } from '../client/keys.ts';
import type { DispatchItems, Item } from './dispatch-items.ts';

type Laid = Extract<DispatchItems, { ok: true }>;

/** A batch takes up to some MB while it is packed, so few are in memory at once. */
const OBJECTS_AT_ONCE = 8;

/** Whether something of a dispatch must be stored as an object before its transaction. */
export const needsObjects = ({ isContentLarge, rows }: Laid): boolean => isContentLarge || rows === undefined;

/** Stores the objects of a new dispatch. @returns the items of its transaction, the dispatch first. Throws {@link Unavailable} */
export const storeObjects = async (
  writer: ObjectWriter,
  { dispatch: { dispatchId }, recipients }: NewDispatch,
  dispatchItems: Laid,
) => {
  const objects = writer.begin(dispatchId);
  const content: Item = dispatchItems.isContentLarge
    ? { ...contentKey(dispatchId), object: await objects.put('content', dispatchItems.content) }
    : { ...contentKey(dispatchId), data: dispatchItems.content };
  const rows = dispatchItems.rows ?? (await storeBatches(objects, dispatchId, recipients));
  return [dispatchItems.dispatch, content, ...rows];
};

const storeBatches = (objects: ObjectTry, dispatchId: string, recipients: readonly RecipientInput[]): Promise<Item[]> =>
  inParallel(cut(recipients), OBJECTS_AT_ONCE, async (batch, i) => ({
    ...batchKey(dispatchId, i),
    object: await objects.put(String(i), await encodeBatch(batch)),
    count: batch.length,
  }));

const byApplyId = (a: RecipientInput, b: RecipientInput): number => (a.applyId < b.applyId ? -1 : Number(a.applyId > b.applyId));

/** The order in the request makes no difference to what is stored. */
const cut = (recipients: readonly RecipientInput[]): RecipientInput[][] => {
  const sorted = recipients.toSorted(byApplyId);
  const size = STORAGE_LIMITS.batchRecipients;
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, i) => sorted.slice(i * size, (i + 1) * size));
};
