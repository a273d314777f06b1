import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The folder of the test files of real runs. */
export const FOLDER = join(import.meta.dirname, '..');

/** Which test files share stacks, in the order in which they run: `npm test` runs each group in a process of its own. */
export const MEMBERS = {
  requests: ['http-requests', 'dispatch-to-inbox', 'operate'],
  // The operations page first: it also shows a stack on which nothing has gone wrong yet.
  trouble: ['operations-page', 'trouble-with-ses', 'dead-letters'],
  crashes: ['crash-points', 'calls'],
  // Progress first: it reads all changes of the table again.
  lists: ['progress', 'large-list-crashes', 'crashes'],
  unclear: ['events-off', 'bulk-settle', 'metrics'],
  // Each has a table of its own; together they load the code that they share once.
  tables: [
    ...['accept-and-read', 'control-items', 'counts-store', 'expand-and-sweep', 'expired-rows', 'feedback-store'],
    ...['feedback-to-row', 'large-lists', 'lists-and-exports', 'recipient-parity', 'ses-reads', 'stories', 'tasks'],
    ...['template-copies', 'unclear-ledger', 'restored-items', 'unreadable-items', 'unreadable-control-items'],
  ],
} as const;

/** What takes long and shows what shorter tests show, too: `npm run test:full` runs it. */
export const FULL_ONLY: readonly string[] = ['random-kills'];

/** All test files of real runs. */
export const allFiles = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => basename(name, '.test.ts'));

/** Those of no group. */
export const otherFiles = (): string[] => {
  const named = new Set<string>([...Object.values(MEMBERS).flat(), ...FULL_ONLY]);
  return allFiles().filter((name) => !named.has(name));
};
