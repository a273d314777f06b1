import { closeSync, createReadStream, existsSync, openSync, statSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { Mail } from './mail.ts';

/** A mail without its text: what is kept in memory of each. */
export type JournalEntry = Omit<Mail, 'body' | 'headers' | 'replyTo'>;

/** The mails that were taken, in a file that outlives the stack. */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  /** On disk when it returns: a kill right after the answer must not lose a mail that SES "took". */
  readonly append: (mail: Mail) => void;
  readonly close: () => void;
}

const toEntry = ({ at, messageId, to, from, subject, tags, configurationSetName }: Mail): JournalEntry => ({
  at,
  messageId,
  to,
  from,
  subject,
  tags,
  ...(configurationSetName !== undefined && { configurationSetName }),
});

const parseLine = (line: string): Mail | undefined => {
  try {
    return Mail.parse(JSON.parse(line));
  } catch {
    // The line that was being written when the stack was killed: its call was never answered.
    return undefined;
  }
};

/** Opens the journal and hands over each mail that is in it. */
export const openJournal = async (file: string, onMail: (mail: Mail) => void): Promise<Journal> => {
  const entries: JournalEntry[] = [];
  if (existsSync(file)) {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const mail = parseLine(line);
      if (mail === undefined) continue;
      entries.push(toEntry(mail));
      onMail(mail);
    }
  }
  const descriptor = openSync(file, 'a');
  // Whatever half line a kill left, ours begins on its own.
  if (statSync(file).size > 0) writeSync(descriptor, '\n');
  return {
    entries,
    append: (mail) => {
      writeSync(descriptor, `${JSON.stringify(mail)}\n`);
      entries.push(toEntry(mail));
    },
    close: () => {
      closeSync(descriptor);
    },
  };
};
