// `npm run test:leaks -- <folder>`: counts and searches what a whole test run left there when it ran with RECORDED_OUTPUT=<folder>.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

import { readRecorded, RECORDED_KINDS, recordedIn } from './look.ts';
import { distinct } from './markers.ts';
import { createSearch } from './search.ts';

const Markers = z.array(z.object({ kind: z.enum(['address', 'variable', 'subject']), value: z.string() }));

const say = (line: string) => process.stdout.write(`${line}\n`);

const folder = process.argv[2] ?? process.env['RECORDED_OUTPUT'];
if (folder === undefined) throw new Error('Say which folder: npm run test:leaks -- <folder>');

const stacks = readdirSync(folder);
const markersOf = (stack: string) => {
  const content: unknown = JSON.parse(readFileSync(join(folder, stack, 'markers.json'), 'utf8'));
  return Markers.parse(content);
};
// Each stack's output is searched for what any of them was told.
const markers = distinct(stacks.flatMap(markersOf));
const search = createSearch(markers);

const rows = stacks.flatMap((stack) =>
  recordedIn(join(folder, stack)).map((file) => {
    const text = readRecorded(join(folder, stack), file);
    const lines = text.split('\n').filter((line) => line !== '').length;
    return { ...file, stack, lines, found: search(text) };
  }),
);

const counted = ['address', 'variable', 'subject'].map(
  (kind) =>
    `${markers.filter((marker) => marker.kind === kind).length} ${kind === 'address' ? 'domains of addresses' : `texts of ${kind}s`}`,
);
say(`${stacks.length} stacks, searched for ${counted.join(', ')} and any other address`);
for (const kind of RECORDED_KINDS) {
  const ofKind = rows.filter((row) => row.kind === kind);
  const sum = (count: (row: (typeof rows)[number]) => number) => String(ofKind.reduce((all, row) => all + count(row), 0));
  say(`${kind.padEnd(18)}${sum(({ lines }) => lines).padStart(9)} lines${sum(({ found }) => found.length).padStart(7)} found`);
}
for (const { stack, name, found } of rows) for (const { kind, line } of found) say(`! ${kind}: ${stack}/${name}, line ${line}`);
if (rows.some(({ found }) => found.length > 0)) process.exitCode = 1;
