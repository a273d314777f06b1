import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

/** What scripts and clients need to know of a running stack. */
export const StackFile = z.object({
  api: z.url(),
  inbox: z.url(),
  ses: z.url(),
  sqs: z.url(),
  dynamodb: z.url(),
  /** Answers what was published about dispatches, oldest first. */
  busUrl: z.url(),
  eventBusName: z.string(),
  tableName: z.string(),
  queueUrl: z.url(),
  deadLetterQueueUrl: z.url(),
  taskQueueUrl: z.url(),
  taskDeadLetterQueueUrl: z.url(),
  feedbackQueueUrl: z.url(),
  feedbackDeadLetterQueueUrl: z.url(),
  failureBucket: z.string(),
  listBucket: z.string(),
  templatePrefix: z.string(),
  fromAddress: z.string(),
  scenarios: z.array(
    z.object({
      id: z.string(),
      variables: z.record(z.string(), z.json()),
      recipientVariables: z.record(z.string(), z.json()),
    }),
  ),
  tokens: z.object({ admin: z.string(), secondAdmin: z.string(), operator: z.string() }),
  /** Only with the hooks that count requests. */
  counts: z.url().optional(),
  /** Where crashes are ordered; only with the hooks for crashes. */
  crash: z.url().optional(),
});
export type StackFile = z.output<typeof StackFile>;

const fileIn = (directory: string) => join(directory, 'stack.json');

/** Written when everything is up, so that its appearance is the sign to wait for. */
export const writeStackFile = (directory: string, content: StackFile): void => {
  const file = fileIn(directory);
  writeFileSync(`${file}.new`, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
};

/** The description of the stack that runs in the folder; undefined if none does. */
export const readStackFile = (directory: string): StackFile | undefined => {
  const file = fileIn(directory);
  if (!existsSync(file)) return undefined;
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return StackFile.parse(content);
};

/** Removes it; one that a killed stack left must not be taken for ours. */
export const removeStackFile = (directory: string): void => {
  rmSync(fileIn(directory), { force: true });
};
