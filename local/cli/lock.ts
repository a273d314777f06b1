import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Is there such a process? */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Is that process a local stack, and alive? */
export const isStack = (pid: number): boolean => {
  if (!isAlive(pid)) return false;
  // After a kill -9 the number may belong to anybody by now.
  const commandLine = `/proc/${pid}/cmdline`;
  return !existsSync(commandLine) || readFileSync(commandLine, 'utf8').includes('local/start.ts');
};

/** The process of the stack that uses the folder; undefined if none does. */
export const findHolder = (directory: string): number | undefined => {
  const file = join(directory, 'pid');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  return pid > 0 && isStack(pid) ? pid : undefined;
};

/** Makes the folder ours: two stacks would write over each other's journal and checkpoints. */
export const lockDirectory = (directory: string): (() => void) => {
  const file = join(directory, 'pid');
  const holder = findHolder(directory);
  if (holder !== undefined && holder !== process.pid) {
    throw new Error(`Another local stack (process ${holder}) uses ${directory}. Stop it, or set LOCAL_DIR to another folder.`);
  }
  writeFileSync(file, String(process.pid));
  return () => {
    rmSync(file, { force: true });
  };
};
