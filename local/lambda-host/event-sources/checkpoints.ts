import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

/** How far a shard was read; `closed` once its end was reached. */
const Checkpoint = z.object({ sequenceNumber: z.string().optional(), closed: z.boolean().optional() });
export type Checkpoint = z.output<typeof Checkpoint>;

const File = z.record(z.string(), Checkpoint);
type All = ReadonlyMap<string, Checkpoint>;

/** Where each shard is gone on after a restart. */
export interface Checkpoints {
  readonly get: (shard: string) => Checkpoint;
  readonly set: (shard: string, checkpoint: Checkpoint) => void;
}

/** Where a stack that lives in that folder keeps them. */
export const checkpointFile = (directory: string): string => join(directory, 'checkpoints.json');

/** Names a shard as one function reads it: each function has a place of its own. */
export const checkpointKey = (functionName: string, streamArn: string, shardId: string): string =>
  `${functionName} ${streamArn} ${shardId}`;

const read = (file: string): Map<string, Checkpoint> => {
  const stored: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return new Map(Object.entries(File.parse(stored)));
};

/** As a whole, so that a kill leaves the old or the new file. */
const write = (file: string, all: All): void => {
  writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(all)));
  renameSync(`${file}.new`, file);
};

/** Keeps them in a file. */
export const openCheckpoints = (file: string): Checkpoints => {
  const all = read(file);
  return {
    get: (shard) => all.get(shard) ?? {},
    set: (shard, checkpoint) => {
      all.set(shard, checkpoint);
      write(file, all);
    },
  };
};

/** Lets functions whose name begins so read their stream from its oldest record again; for a stack that does not run. */
export const forgetCheckpoints = (file: string, functionName: string): void => {
  write(file, new Map([...read(file)].filter(([shard]) => !shard.startsWith(functionName))));
};
