import type { RecipientKey } from '../../domain/recipient/recipient.ts';

/** The messages of the send queue. */
export interface SendQueue {
  /** New messages, each with an id of its own. @returns for each whether the queue has it; never throws */
  send(messages: readonly { readonly key: RecipientKey; readonly delaySeconds: number }[]): Promise<boolean[]>;
  /** Hides messages for a time; whatever fails leaves the queue's own visibility in force. */
  hide(messages: readonly { readonly receiptHandle: string; readonly seconds: number }[]): Promise<void>;
  /** What the queue holds: visible, delayed or in flight. */
  depth(): Promise<number>;
}

/** The messages of the task queue. */
export interface TaskQueue {
  /** @returns for each whether the queue has it; never throws */
  expand(batches: readonly BatchKey[], delaySeconds?: number): Promise<boolean[]>;
  /** @returns for each whether the queue has it; never throws */
  enqueueTasks(tasks: readonly TaskKey[], delaySeconds?: number): Promise<boolean[]>;
}

/** Names one piece of long work on a dispatch. */
export interface TaskKey {
  readonly dispatchId: string;
  readonly task: number;
}

/** Names one batch of recipients of a large dispatch. */
export interface BatchKey {
  readonly dispatchId: string;
  readonly batch: number;
}

/** A batch that is not expanded yet. */
export interface PendingBatch extends BatchKey {
  /** Its recipients. */
  readonly count: number;
}
