import { findHolder } from '../cli/lock.ts';
import { readSettings } from '../settings.ts';
import { readStackFile, type StackFile } from '../stack-file.ts';

/** The stack that runs in LOCAL_DIR; throws, in words for a person, if none does. */
export const findRunningStack = (environment: NodeJS.ProcessEnv): StackFile => {
  const { directory } = readSettings(environment);
  // A stack that was killed has left its file.
  const stack = findHolder(directory) === undefined ? undefined : readStackFile(directory);
  if (stack !== undefined) return stack;
  throw new Error(`No local stack runs in ${directory}. Start one with npm start, or set LOCAL_DIR to the folder of yours.`);
};
