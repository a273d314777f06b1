import { basename } from 'node:path';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Limits that only a failure reaches, however busy the machine: tests of real runs wait for what they want to see. */
const REAL_RUN = { testTimeout: 900_000, hookTimeout: 1_800_000 };

/** Of the groups, those that take longest; whichever begins last keeps one of two workers waiting for the other. */
const LONGEST_FIRST = ['unclear', 'trouble', 'lists', 'requests', 'crashes'].map((name) => `${name}.test.ts`);

class LongestGroupFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification): number => {
      const at = project.name === 'groups' ? LONGEST_FIRST.indexOf(basename(moduleId)) : -1;
      return at < 0 ? LONGEST_FIRST.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/{unit,infra,simulation}/**/*.test.ts', 'test/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Loading the CDK and the SDK anew for each of a hundred files would take longer than all the tests.
          isolate: false,
        },
      },
      // Real clients over the wire: kept apart from files that mock the clients' classes.
      { test: { name: 'contract', include: ['test/contract/**/*.test.ts'], testTimeout: 20_000 } },
      // Each file by itself, on a stack of its own: for one file at a time, and for `npm run test:full`.
      { test: { name: 'integration', include: ['test/integration/*.test.ts'], ...REAL_RUN } },
      // The same files on fewer stacks: for `npm test`.
      { test: { name: 'groups', include: ['test/integration/groups/*.test.ts'], ...REAL_RUN } },
    ],
    // Real runs mostly wait: of three, two keep a machine of two processors busy.
    maxWorkers: 3,
    sequence: { sequencer: LongestGroupFirst },
  },
});
