import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Is that process a local stack, and alive? */
export const isStack = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // After a kill -9 the number may belong to anybody by now.
  const commandLine = `/proc/${pid}/cmdline`;
  return !existsSync(commandLine) || readFileSync(commandLine, 'utf8').includes('local/start.ts');
};

/** Makes the folder ours: two stacks would write over each other's journal and checkpoints. */
export const lockDirectory = (directory: string): (() => void) => {
  const file = join(directory, 'pid');
  if (existsSync(file)) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid !== process.pid && pid > 0 && isStack(pid)) {
      throw new Error(`Another local stack (process ${pid}) uses ${directory}. Stop it, or set LOCAL_DIR to another folder.`);
    }
  }
  writeFileSync(file, String(process.pid));
  return () => {
    rmSync(file, { force: true });
  };
};
