import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Settings } from './settings.ts';

/** What may be of interest to somebody who looks for what must not be there: addresses, names, subjects. */
export interface RecordedOutput {
  /** A message that was put into a queue, with all its attributes. */
  readonly message: (queueUrl: string, message: unknown) => void;
  /** An answer of the API that tells of an error. */
  readonly refusal: (request: string, answer: { readonly headers: unknown; readonly body: Buffer }) => void;
}

/** The files in the stack's folder, one line of JSON each time; both outlive the stack. */
export const RECORDED_FILES = { messages: 'messages.jsonl', refusals: 'refusals.jsonl' } as const;

const NOTHING: RecordedOutput = { message: () => undefined, refusal: () => undefined };

/** Keeps what leaves the functions other than by their logs, if so set: only tests ask for it. */
export const openRecordedOutput = ({ directory, recorded }: Pick<Settings, 'directory' | 'recorded'>): RecordedOutput => {
  if (!recorded) return NOTHING;
  const append = (file: string, line: object) => {
    appendFileSync(join(directory, file), `${JSON.stringify(line)}\n`);
  };
  return {
    message: (queueUrl, message) => {
      append(RECORDED_FILES.messages, { queue: queueUrl.split('/').at(-1), message });
    },
    refusal: (request, { headers, body }) => {
      append(RECORDED_FILES.refusals, { request, headers, body: body.toString('utf8') });
    },
  };
};
