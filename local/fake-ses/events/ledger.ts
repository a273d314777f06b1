import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';

import * as z from 'zod';

import { EVENT_KINDS, type EventKind } from './kinds.ts';

/** An event that was not simply published at once: it is lost, or due later. */
const Entry = z.object({
  messageId: z.string(),
  kind: z.enum(EVENT_KINDS),
  recipient: z.string(),
  dueAt: z.union([z.iso.datetime(), z.literal('never')]),
});

/** When an event is due that was put off; `never` if it is lost. */
export type DueAt = number | 'never';

/** The events that were put off or lost, in a file that outlives the stack: a restart must neither bring them forward nor back. */
export interface EventLedger {
  readonly find: (messageId: string, recipient: string, kind: EventKind) => DueAt | undefined;
  /** On disk when it returns. */
  readonly append: (messageId: string, recipient: string, kind: EventKind, dueAt: DueAt) => void;
  readonly close: () => void;
}

const parseLine = (line: string): z.output<typeof Entry> | undefined => {
  try {
    return Entry.parse(JSON.parse(line));
  } catch {
    // The line that was being written when the stack was killed: its mail was not taken.
    return undefined;
  }
};

const keyOf = (messageId: string, recipient: string, kind: EventKind): string => `${messageId} ${kind} ${recipient}`;

/** Opens the ledger. */
export const openEventLedger = (file: string): EventLedger => {
  const all = new Map<string, DueAt>();
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const line of before.split('\n')) {
    const entry = parseLine(line);
    if (entry === undefined) continue;
    const { messageId, recipient, kind, dueAt } = entry;
    all.set(keyOf(messageId, recipient, kind), dueAt === 'never' ? dueAt : Date.parse(dueAt));
  }
  const descriptor = openSync(file, 'a');
  // Whatever half line a kill left, ours begins on its own.
  if (before !== '') writeSync(descriptor, '\n');
  return {
    find: (messageId, recipient, kind) => all.get(keyOf(messageId, recipient, kind)),
    append: (messageId, recipient, kind, dueAt) => {
      const entry = { messageId, kind, recipient, dueAt: dueAt === 'never' ? dueAt : new Date(dueAt).toISOString() };
      writeSync(descriptor, `${JSON.stringify(entry)}\n`);
    },
    close: () => {
      closeSync(descriptor);
    },
  };
};
