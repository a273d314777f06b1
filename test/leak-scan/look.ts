import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { RECORDED_FILES } from '../../local/recorded-output.ts';
import { distinct, markersOfJournal } from './markers.ts';
import { createSearch, type Marker } from './search.ts';

/** What a stack's product has said, and where the stack keeps it. */
export const RECORDED_KINDS = ['logs and metrics', 'messages', 'error answers', 'events'] as const;
export type RecordedKind = (typeof RECORDED_KINDS)[number];

export interface RecordedFile {
  readonly kind: RecordedKind;
  /** Below the stack's folder. */
  readonly name: string;
}

const JOURNAL = 'journal.jsonl';

/** All there is in a stack's folder. */
export const recordedIn = (directory: string): RecordedFile[] => {
  const logs = existsSync(join(directory, 'logs')) ? readdirSync(join(directory, 'logs')) : [];
  const files: readonly RecordedFile[] = [
    ...logs.map((name): RecordedFile => ({ kind: 'logs and metrics', name: join('logs', name) })),
    { kind: 'messages', name: RECORDED_FILES.messages },
    { kind: 'error answers', name: RECORDED_FILES.refusals },
    { kind: 'events', name: 'events-bus.jsonl' },
  ];
  return files.filter(({ name }) => existsSync(join(directory, name)));
};

/** SES's own events have addresses by nature; what tests themselves put beside them is not looked at either. */
const isOfSes = (line: string) => /^\{"queue":"[^"]*feedback/i.test(line);

/** Text of a file, line by line as it is there. */
export const readRecorded = (directory: string, { kind, name }: RecordedFile): string => {
  const text = readFileSync(join(directory, name), 'utf8');
  if (kind !== 'messages') return text;
  return text
    .split('\n')
    .map((line) => (isOfSes(line) ? '' : line))
    .join('\n');
};

const keep = (directory: string, files: readonly RecordedFile[], markers: readonly Marker[], folder: string) => {
  const target = join(folder, basename(directory));
  for (const { name } of files) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    copyFileSync(join(directory, name), join(target, name));
  }
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'markers.json'), JSON.stringify(markers));
};

/**
 * Looks through what a stack's functions have logged, sent and answered for what was in the requests, and for addresses of any
 * kind; throws one error that says where, and never what. With RECORDED_OUTPUT=<folder> all of it is kept there, too.
 */
export const lookForLeaks = (directory: string, ofRequests: readonly Marker[]): void => {
  const journal = join(directory, JOURNAL);
  const subjects = existsSync(journal) ? markersOfJournal(readFileSync(journal, 'utf8')) : [];
  const markers = distinct([...ofRequests, ...subjects]);
  const files = recordedIn(directory);
  const folder = process.env['RECORDED_OUTPUT'];
  if (folder !== undefined && folder !== '') keep(directory, files, markers, folder);

  const search = createSearch(markers);
  const places = files.flatMap((file) =>
    search(readRecorded(directory, file)).map(({ kind, line }) => `${kind} in ${file.kind}: ${file.name}, line ${line}`),
  );
  if (places.length === 0) return;
  throw new Error(`What only the mail may show was seen in ${places.length} places (S14):\n${places.slice(0, 20).join('\n')}`);
};
