import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

const Line = z.looseObject({
  messageId: z.string(),
  to: z.array(z.string()),
  subject: z.string(),
  tags: z.record(z.string(), z.string()),
});

/** A mail that the emulated SES took. */
export type JournalMail = z.output<typeof Line>;

/** A line that a kill cut short is none. */
const parseLine = (line: string): JournalMail | undefined => {
  try {
    return Line.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
};

/** What SES took of a dispatch, in order; it outlives the stack. */
export const readJournal = (directory: string, dispatchId: string): JournalMail[] => {
  const file = join(directory, 'journal.jsonl');
  if (!existsSync(file)) return [];
  const mails = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => parseLine(line) ?? []);
  return mails.filter(({ tags }) => tags['dispatchId'] === dispatchId);
};
