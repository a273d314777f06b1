import type { Leftover } from './cleanup.ts';
import type { Result } from './run-checks.ts';

const WORDS: Readonly<Record<Result['status'], string>> = { passed: 'passed', failed: 'FAILED', skipped: 'skipped' };

const WIDTH = 110;

/** Breaks a text at spaces, so that no line but one with a long word is longer than the width. */
export const wrap = (text: string, width: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
};

/** One line of the table. */
export const describeResult = ({ name, status, saw }: Result): string =>
  `  ${WORDS[status].padEnd(7)}  ${name.padEnd(28)} ${saw}`.trimEnd();

const describeFailure = ({ name, saw, advice = '' }: Result): string =>
  [
    name,
    ...wrap(`Seen: ${saw}`, WIDTH).map((line) => `  ${line}`),
    ...wrap(`Do:   ${advice}`, WIDTH).map((line, i) => (i === 0 ? `  ${line}` : `        ${line}`)),
  ].join('\n');

const count = (results: readonly Result[], status: Result['status']): number =>
  results.filter((result) => result.status === status).length;

/** Whether the deployment does what it must. */
export const isGood = (results: readonly Result[], left: readonly Leftover[]): boolean =>
  left.length === 0 && results.every(({ status, saw }) => status !== 'failed' && saw !== 'interrupted');

/** What stands after all checks: each failure with what to do, what could not be put back, and the sums. */
export const describeEnd = (results: readonly Result[], left: readonly Leftover[]): string => {
  const failures = results.filter(({ status }) => status === 'failed').map(describeFailure);
  const leftovers = left.map(({ what, byHand }) => `Left behind: ${what}. Put it back by hand: ${byHand}`);
  const sums = `${count(results, 'passed')} passed, ${count(results, 'failed')} failed, ${count(results, 'skipped')} skipped`;
  return [...failures, ...leftovers, sums].join('\n\n');
};

/** The whole table. */
export const describeTable = (results: readonly Result[]): string => results.map(describeResult).join('\n');

/** A list for the eye. */
export const bullets = (lines: readonly string[]): string =>
  lines.flatMap((line) => wrap(line, WIDTH).map((part, i) => (i === 0 ? `  - ${part}` : `    ${part}`))).join('\n');
