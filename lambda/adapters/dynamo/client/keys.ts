import type { TaskKey } from '../../../application/ports/queues.ts';
import {
  BATCH_PREFIX,
  CONTROL_PARTITION,
  DISPATCH_PREFIX,
  DISPATCH_SORT_KEY,
  RECIPIENT_PREFIX,
  TASK_PREFIX,
  UNCLEAR_PREFIX,
} from '../../../contracts/table-keys.ts';
import type { RecipientKey } from '../../../domain/recipient/recipient.ts';

/** The table's primary key. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** Partition of everything about a dispatch but its recipients. */
export const dispatchPartition = (dispatchId: string): string => `${DISPATCH_PREFIX}${dispatchId}`;

/** Partition of one shard of a dispatch's recipients. */
export const shardPartition = (dispatchId: string, shard: number): string => `${DISPATCH_PREFIX}${dispatchId}#${shard}`;

export const dispatchKey = (dispatchId: string): ItemKey => ({ pk: dispatchPartition(dispatchId), sk: DISPATCH_SORT_KEY });

export const contentKey = (dispatchId: string): ItemKey => ({ pk: dispatchPartition(dispatchId), sk: 'CONTENT' });

/** Padded so that batches sort by number. */
export const batchKey = (dispatchId: string, batch: number): ItemKey => ({
  pk: dispatchPartition(dispatchId),
  sk: `${BATCH_PREFIX}${String(batch).padStart(4, '0')}`,
});

/** Padded as batches are. */
export const taskKey = ({ dispatchId, task }: TaskKey): ItemKey => ({
  pk: dispatchPartition(dispatchId),
  sk: `${TASK_PREFIX}${String(task).padStart(4, '0')}`,
});

/** Guards a content, named by its fingerprint, against being sent again too soon. */
export const guardKey = (content: string): ItemKey => ({ pk: `GUARD#${content}`, sk: 'GUARD' });

/** The latest answer of SES about a template, by the template's name. */
export const templateKey = (name: string): ItemKey => ({ pk: `TEMPLATE#${name}`, sk: 'COPY' });

/** A content of that template. */
export const templateContentKey = (name: string, version: string): ItemKey => ({
  pk: `TEMPLATE#${name}`,
  sk: `CONTENT#${version}`,
});

/** One of the few items that are about the whole service. */
export const controlKey = (
  name: 'SENDING' | 'CANARY' | 'FEEDBACK' | 'SWEEPER' | 'ACCOUNT' | 'SES_READS' | 'LISTS' | 'UNCLEAR' | 'TABLE',
): ItemKey => ({
  pk: CONTROL_PARTITION,
  sk: name,
});

/** One shard of the ledger of unclear attempts. */
export const unclearPartition = (shard: number): string => `${UNCLEAR_PREFIX}${shard}`;

export const recipientKey = ({ dispatchId, shard, applyId }: RecipientKey): ItemKey => ({
  pk: shardPartition(dispatchId, shard),
  sk: `${RECIPIENT_PREFIX}${applyId}`,
});

/** Partition of the dispatches of one admin, in the index by admin. */
export const adminKey = (adminId: string): string => `ADMIN#${adminId}`;

/** Value of `openKey` while a dispatch is not finished. */
export const OPEN = 'OPEN';

/** Value of `openKey` once it is, if a person should look at it; otherwise the attribute is absent then. */
export const ATTENTION = 'ATTENTION';

/** What a stream record is about; undefined: none of the kinds that are relayed. */
export const parseKey = (
  key: ItemKey,
):
  | ({ readonly kind: 'recipient' } & RecipientKey)
  | { readonly kind: 'batch'; readonly dispatchId: string; readonly batch: number }
  | ({ readonly kind: 'task' } & TaskKey)
  | undefined => {
  if (!key.pk.startsWith(DISPATCH_PREFIX)) return undefined;
  const [dispatchId, shard] = key.pk.slice(DISPATCH_PREFIX.length).split('#');
  if (dispatchId === undefined || dispatchId === '') return undefined;
  const applyId = key.sk.slice(RECIPIENT_PREFIX.length);
  if (key.sk.startsWith(RECIPIENT_PREFIX) && applyId !== '' && shard !== undefined && /^\d+$/.test(shard)) {
    return { kind: 'recipient', dispatchId, shard: Number(shard), applyId };
  }
  const batch = key.sk.slice(BATCH_PREFIX.length);
  if (key.sk.startsWith(BATCH_PREFIX) && shard === undefined && /^\d+$/.test(batch)) {
    return { kind: 'batch', dispatchId, batch: Number(batch) };
  }
  const task = key.sk.slice(TASK_PREFIX.length);
  if (key.sk.startsWith(TASK_PREFIX) && shard === undefined && /^\d+$/.test(task)) {
    return { kind: 'task', dispatchId, task: Number(task) };
  }
  return undefined;
};
