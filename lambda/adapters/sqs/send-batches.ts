import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, type SQSClient } from '@aws-sdk/client-sqs';

import { isAllDone, retry } from '../../domain/shared/retry.ts';

/** A message to hand over. */
export interface Outgoing {
  /**
   * Made anew for each try: of two copies of one body the later would pass for a redrive of the earlier. For the same
   * reason the client must not repeat a call by itself.
   */
  readonly body: () => string;
  readonly groupId: string;
  readonly delaySeconds: number;
}

export interface SqsDeps {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly newId: () => string;
  readonly clock: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const ENTRIES_PER_CALL = 10;
const RETRIES = { tries: 3, baseMs: 250 };

/** Sends messages, ten a call; a call that answers 200 may still have failed entries, and those are sent again. */
export const sendBatches = async (deps: SqsDeps, messages: readonly Outgoing[]): Promise<boolean[]> => {
  const sent = messages.map(() => false);
  for (let from = 0; from < messages.length; from += ENTRIES_PER_CALL) {
    let open = [...messages.entries()].slice(from, from + ENTRIES_PER_CALL);
    await retry(deps, RETRIES, async () => {
      const failed = await sendOnce(deps.client, deps.queueUrl, open);
      for (const [i] of open) sent[i] = !failed.has(i);
      open = open.filter(([i]) => failed.has(i));
      return isAllDone(open);
    });
  }
  return sent;
};

/** @returns the indexes of the entries that the queue does not have, as far as is known */
const sendOnce = async (
  client: SQSClient,
  queueUrl: string,
  entries: readonly (readonly [number, Outgoing])[],
): Promise<Set<number>> => {
  try {
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries.map(toEntry) }));
    return new Set(Failed.map(({ Id }) => Number(Id)));
  } catch {
    return new Set(entries.map(([i]) => i));
  }
};

const toEntry = ([i, { body, groupId, delaySeconds }]: readonly [number, Outgoing]): SendMessageBatchRequestEntry => ({
  Id: String(i),
  MessageBody: body(),
  // A fair queue: a dispatch of 50,000 must not hold up one of 3.
  MessageGroupId: groupId,
  ...(delaySeconds > 0 && { DelaySeconds: delaySeconds }),
});
