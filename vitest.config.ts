import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/{unit,contract,infra}/**/*.test.ts', 'test/*.test.ts'], testTimeout: 20_000 } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 90_000,
          hookTimeout: 90_000,
          // Each file starts servers of its own; two cores carry two of them.
          maxWorkers: 2,
        },
      },
    ],
  },
});
