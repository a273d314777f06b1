import { afterAll, beforeAll } from 'vitest';

import { resetStack } from './reset-stack.ts';
import { TestStack } from './stack.ts';

interface SharedStack {
  readonly stack: TestStack;
  isUp: boolean;
  /** How many have yet to end that asked for it. */
  users: number;
}

/** The stacks of this process, by their settings. */
const stacks = new Map<string, SharedStack>();

const end = async (shared: SharedStack): Promise<void> => {
  shared.isUp = false;
  await shared.stack.end();
};

/** Ends every stack that is still up. */
export const endStacks = async (): Promise<void> => {
  const ended = await Promise.allSettled([...stacks.values()].filter(({ isUp }) => isUp).map(end));
  const reasons = ended.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []));
  if (reasons.length > 0) throw new AggregateError(reasons, reasons.map(String).join('\n'));
};

/**
 * A stack with these settings for the tests around the call. In a group, test files with equal settings use one stack, one file
 * after the other; each file finds it without faults, with empty dead-letter queues, and with a name space of its own for keys.
 */
export const useStack = (name: string, environment: Readonly<Record<string, string>> = {}): TestStack => {
  const settings = JSON.stringify(Object.entries(environment).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const shared = stacks.get(settings) ?? { stack: new TestStack(environment), isUp: false, users: 0 };
  shared.users += 1;
  stacks.set(settings, shared);
  beforeAll(async () => {
    if (shared.isUp) await resetStack(shared.stack);
    else {
      // Before the start: a stack that does not come up has a folder to remove, too.
      shared.isUp = true;
      await shared.stack.start();
    }
    shared.stack.beginScope(name);
  });
  afterAll(async () => {
    shared.users -= 1;
    if (shared.users === 0) await end(shared);
  });
  return shared.stack;
};
