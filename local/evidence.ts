import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Settings } from './settings.ts';

/** What may be of interest to somebody who looks for what must not be there: addresses, names, subjects. */
export interface Evidence {
  /** A message that was put into a queue, with all its attributes. */
  readonly message: (queueUrl: string, message: unknown) => void;
  /** An answer of the API that tells of an error. */
  readonly refusal: (request: string, answer: { readonly headers: unknown; readonly body: Buffer }) => void;
}

/** The files in the stack's folder, one line of JSON each time; both outlive the stack. */
export const EVIDENCE_FILES = { messages: 'messages.jsonl', refusals: 'refusals.jsonl' } as const;

const NOTHING: Evidence = { message: () => undefined, refusal: () => undefined };

/** Keeps what leaves the functions other than by their logs, if so set: only tests ask for it. */
export const openEvidence = ({ directory, evidence }: Pick<Settings, 'directory' | 'evidence'>): Evidence => {
  if (!evidence) return NOTHING;
  const append = (file: string, line: object) => {
    appendFileSync(join(directory, file), `${JSON.stringify(line)}\n`);
  };
  return {
    message: (queueUrl, message) => {
      append(EVIDENCE_FILES.messages, { queue: queueUrl.split('/').at(-1), message });
    },
    refusal: (request, { headers, body }) => {
      append(EVIDENCE_FILES.refusals, { request, headers, body: body.toString('utf8') });
    },
  };
};
