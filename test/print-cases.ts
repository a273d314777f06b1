import { CASES } from './support/cases.ts';
import { readNamedTests } from './support/named-tests.ts';

/** Prints the tests of each case as Markdown, with paths from the repository's root. */
const tests = readNamedTests();
for (const [id, what] of Object.entries(CASES)) {
  const lines = tests
    .filter(({ ids }) => ids.includes(id))
    .map(({ layer, name, file }) => `- ${layer}: ${name} – [${file.split('/').at(-1) ?? ''}](${file})`);
  process.stdout.write([`## ${id}: ${what}`, '', ...new Set(lines), '', ''].join('\n'));
}
