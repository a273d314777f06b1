import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

import * as z from 'zod';

/** How far a shard was read; `closed` once its end was reached. */
const Checkpoint = z.object({ sequenceNumber: z.string().optional(), closed: z.boolean().optional() });
export type Checkpoint = z.output<typeof Checkpoint>;

const File = z.record(z.string(), Checkpoint);

/** Where each shard is gone on after a restart. */
export interface Checkpoints {
  readonly get: (shard: string) => Checkpoint;
  readonly set: (shard: string, checkpoint: Checkpoint) => void;
}

/** Keeps them in a file that is replaced as a whole, so that a kill leaves the old or the new one. */
export const openCheckpoints = (file: string): Checkpoints => {
  const all = new Map<string, Checkpoint>();
  if (existsSync(file)) {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    for (const [shard, checkpoint] of Object.entries(File.parse(stored))) all.set(shard, checkpoint);
  }
  return {
    get: (shard) => all.get(shard) ?? {},
    set: (shard, checkpoint) => {
      all.set(shard, checkpoint);
      writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(all)));
      renameSync(`${file}.new`, file);
    },
  };
};
