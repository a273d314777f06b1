import type { NewDispatch, StorageLimit } from '../../../application/ports/accept.ts';
import { STORAGE_LIMITS } from '../../../domain/dispatch/dispatch-request.ts';
import { shardOf } from '../../../domain/dispatch/shards.ts';
import { fitsPartitions } from '../../../domain/dispatch/write-units.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { encodeContent } from '../client/codec.ts';
import { itemBytes } from '../client/item-size.ts';
import { adminKey, dispatchKey, type ItemKey, OPEN, recipientKey } from '../client/keys.ts';
import { newRecipientItem } from '../recipient/items.ts';

/** An item of a new dispatch. */
export type Item = ItemKey & Readonly<Record<string, unknown>>;

/** What a new dispatch leaves in the table, and what of it is too large for that. */
export type DispatchItems =
  | {
      readonly ok: true;
      readonly dispatch: Item;
      /** Gzip; an object of its own if it is large. */
      readonly content: Uint8Array;
      readonly isContentLarge: boolean;
      /** Absent: the recipients go into objects. */
      readonly rows?: readonly Item[];
    }
  | { readonly ok: false; readonly limit: StorageLimit };

/** Lays a new dispatch out: recipients as rows if one transaction may write them, in objects otherwise. */
export const toItems = (entry: NewDispatch): DispatchItems => {
  const content = encodeContent(entry.content);
  if (content.byteLength > STORAGE_LIMITS.contentBytes) return { ok: false, limit: 'content' };
  const isContentLarge = content.byteLength > STORAGE_LIMITS.contentItemBytes;
  const rows = toRowItems(entry);
  return { ok: true, dispatch: dispatchItem(entry), content, isContentLarge, ...(rows && { rows }) };
};

/** What of a dispatch is too large to be stored, if anything is. */
export const tooLarge = (entry: NewDispatch): StorageLimit | undefined => {
  const dispatchItems = toItems(entry);
  return dispatchItems.ok ? undefined : dispatchItems.limit;
};

const dispatchItem = ({ dispatch, fingerprint }: NewDispatch): Item => ({
  ...dispatchKey(dispatch.dispatchId),
  dispatchId: dispatch.dispatchId,
  adminId: dispatch.adminId,
  scenarioId: dispatch.scenarioId,
  recruitId: dispatch.recruitId,
  ...(dispatch.templateVersion !== undefined && { templateVersion: dispatch.templateVersion }),
  total: dispatch.total,
  shards: dispatch.shards,
  isTest: dispatch.isTest,
  status: dispatch.status,
  generation: dispatch.generation,
  createdAt: toIso(dispatch.createdAt),
  counts: dispatch.counts,
  deliveries: dispatch.deliveries,
  fingerprint: fingerprint.whole,
  fieldHashes: fingerprint.fields,
  adminKey: adminKey(dispatch.adminId),
  openKey: OPEN,
  createdKey: `${toIso(dispatch.createdAt)}#${dispatch.dispatchId}`,
});

/** Undefined: too many, or more than their partition should take at once. */
const toRowItems = ({ dispatch, recipients }: NewDispatch): Item[] | undefined => {
  if (recipients.length > STORAGE_LIMITS.transactionRows) return undefined;
  const { dispatchId, shards, createdAt } = dispatch;
  const items = recipients.map(({ applyId, email, variables }) => ({
    ...recipientKey({ dispatchId, shard: shardOf(applyId, shards), applyId }),
    ...newRecipientItem(email, variables, createdAt),
  }));
  return fitsPartitions(items.map((item) => ({ partition: item.pk, bytes: itemBytes(item) }))) ? items : undefined;
};
