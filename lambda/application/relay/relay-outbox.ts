import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import type { BatchKey, SendQueue, TaskKey, TaskQueue } from '../ports/queues.ts';

/** A record of the stream in the words of the relay. */
export type OutboxRecord =
  | { readonly kind: 'recipient'; readonly key: RecipientKey }
  | { readonly kind: 'batch'; readonly key: BatchKey }
  | { readonly kind: 'task'; readonly key: TaskKey }
  /** Nothing to relay. */
  | { readonly kind: 'other' }
  /** No version of this code can handle it. */
  | { readonly kind: 'malformed'; readonly record: unknown };

export interface RelayOutboxDeps {
  readonly sendQueue: SendQueue;
  readonly taskQueue: TaskQueue;
  /** Keeps a record whole for a person to look at; throws when it could not. */
  readonly quarantine: (record: unknown) => Promise<void>;
}

/**
 * Carries records to the queues, in order.
 * @returns the index of the first record that is not handled yet: it and all after it must come again; undefined when
 * all are handled. Records after it may have been relayed, and a second message for a recipient does no harm.
 */
export const relayOutbox = async (
  { sendQueue, taskQueue, quarantine }: RelayOutboxDeps,
  records: readonly OutboxRecord[],
): Promise<number | undefined> => {
  const recipients = [...records.entries()].flatMap(([i, record]) =>
    record.kind === 'recipient' ? [{ i, key: record.key }] : [],
  );
  const batches = [...records.entries()].flatMap(([i, record]) => (record.kind === 'batch' ? [{ i, key: record.key }] : []));
  const tasks = [...records.entries()].flatMap(([i, record]) => (record.kind === 'task' ? [{ i, key: record.key }] : []));
  const malformed = [...records.entries()].flatMap(([i, record]) =>
    record.kind === 'malformed' ? [{ i, record: record.record }] : [],
  );

  const [sent, expanded, enqueuedTasks, kept] = await Promise.all([
    sendQueue.send(recipients.map(({ key }) => ({ key, delaySeconds: 0 }))),
    taskQueue.expand(batches.map(({ key }) => key)),
    taskQueue.enqueueTasks(tasks.map(({ key }) => key)),
    Promise.all(
      malformed.map(({ record }) =>
        quarantine(record).then(
          () => true,
          () => false,
        ),
      ),
    ),
  ]);
  const open = [
    ...recipients.filter((_, n) => !sent[n]),
    ...batches.filter((_, n) => !expanded[n]),
    ...tasks.filter((_, n) => !enqueuedTasks[n]),
    ...malformed.filter((_, n) => !kept[n]),
  ].map(({ i }) => i);
  return open.length === 0 ? undefined : Math.min(...open);
};
