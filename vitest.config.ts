import { defineConfig } from 'vitest/config';

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
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 90_000,
          // A stack's first start also makes its template, several of them side by side.
          hookTimeout: 300_000,
        },
      },
    ],
    // Whole stacks share the machine with the tests, and more workers would only make them wait for one another.
    maxWorkers: 2,
  },
});
