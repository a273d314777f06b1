import type { NewDispatch, StorageLimit } from '../../application/accept-ports.ts';
import type { Addressee } from '../../domain/content.ts';
import { STORAGE_LIMITS } from '../../domain/dispatch-request.ts';
import { toIso } from '../../domain/instant.ts';
import { shardOf } from '../../domain/shards.ts';
import { newRecipientItem } from './items.ts';
import { adminKey, batchKey, contentKey, dispatchKey, OPEN, recipientKey } from './keys.ts';
import { packBatch, packContent } from './packing.ts';

type Item = Record<string, unknown>;

/** The items of a new dispatch: the dispatch itself first. */
export type Layout =
  { readonly ok: true; readonly items: readonly Item[] } | { readonly ok: false; readonly limit: StorageLimit };

/** Names, keys and small values of an item, generously; three of them are the dispatch, its content and its guard. */
const OVERHEAD_BYTES = 1_024;

/** Lays a new dispatch out as items: recipients of their own if they fit into the transaction, batches otherwise. */
export const layOut = (entry: NewDispatch): Layout => {
  const content = packContent(entry.content);
  if (content.byteLength > STORAGE_LIMITS.contentBytes) return { ok: false, limit: 'content' };

  const space = STORAGE_LIMITS.transactionBytes - content.byteLength - 3 * OVERHEAD_BYTES;
  const rows = layOutRecipients(entry, space) ?? layOutBatches(entry, space);
  if (rows === undefined) return { ok: false, limit: 'recipients' };
  const { dispatchId } = entry.dispatch;
  return { ok: true, items: [dispatchItem(entry), { ...contentKey(dispatchId), data: content }, ...rows] };
};

/** What of a dispatch is too large to be stored, if anything is. */
export const tooLarge = (entry: NewDispatch): StorageLimit | undefined => {
  const layout = layOut(entry);
  return layout.ok ? undefined : layout.limit;
};

const dispatchItem = ({ dispatch, fingerprint }: NewDispatch): Item => ({
  ...dispatchKey(dispatch.dispatchId),
  dispatchId: dispatch.dispatchId,
  adminId: dispatch.adminId,
  scenarioId: dispatch.scenarioId,
  recruitId: dispatch.recruitId,
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

const layOutRecipients = ({ dispatch, recipients }: NewDispatch, space: number): Item[] | undefined => {
  if (recipients.length > STORAGE_LIMITS.transactionRows) return undefined;
  const { dispatchId, shards, createdAt } = dispatch;
  const items = recipients.map(({ applyId, email, variables }) => ({
    ...recipientKey({ dispatchId, shard: shardOf(applyId, shards), applyId }),
    ...newRecipientItem(email, variables, createdAt),
  }));
  const bytes = items.reduce((sum, item) => sum + OVERHEAD_BYTES + Buffer.byteLength(item.variables), 0);
  return bytes <= space ? items : undefined;
};

const layOutBatches = ({ dispatch, recipients }: NewDispatch, space: number): Item[] | undefined => {
  const items: Item[] = [];
  let left = space;
  for (const { data, count } of cut(recipients)) {
    left -= data.byteLength + OVERHEAD_BYTES;
    if (left < 0 || items.length === STORAGE_LIMITS.transactionRows) return undefined;
    items.push({ ...batchKey(dispatch.dispatchId, items.length), data, count });
  }
  return items;
};

interface Batch {
  readonly data: Uint8Array;
  readonly count: number;
}

function* cut(recipients: readonly Addressee[]): Generator<Batch> {
  const most = STORAGE_LIMITS.batchRecipients;
  for (let from = 0; from < recipients.length; from += most) yield* halveUntilSmall(recipients.slice(from, from + most));
}

/** A single recipient always fits: its variables are a small part of a batch. */
function* halveUntilSmall(recipients: readonly Addressee[]): Generator<Batch> {
  const data = packBatch(recipients);
  if (data.byteLength <= STORAGE_LIMITS.batchBytes || recipients.length === 1) {
    yield { data, count: recipients.length };
    return;
  }
  const half = Math.ceil(recipients.length / 2);
  yield* halveUntilSmall(recipients.slice(0, half));
  yield* halveUntilSmall(recipients.slice(half));
}
