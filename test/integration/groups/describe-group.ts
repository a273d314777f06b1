import { join } from 'node:path';

import { afterAll, describe } from 'vitest';

import { endStacks } from '../../support/use-stack.ts';
import { FOLDER } from './members.ts';

/** Runs test files one after the other; those with equal settings use one stack, which ends with the last of them. */
export const describeGroup = (files: readonly string[]): void => {
  for (const name of files) {
    describe(name, async () => {
      await import(/* @vite-ignore */ join(FOLDER, `${name}.test.ts`));
    });
  }
  // A file whose tests are skipped leaves its stack to us.
  afterAll(endStacks);
};
