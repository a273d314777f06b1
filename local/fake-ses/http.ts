import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Refusal } from './faults/refusal.ts';

/** Answers a call of the SES API or of the gate's own. */
export const answerJson = (response: ServerResponse, status: number, body: unknown, errorType?: string): void => {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(errorType !== undefined && { 'x-amzn-errortype': errorType }),
  });
  response.end(JSON.stringify(body));
};

/** Answers with an error the way SES does: its name is in a header. */
export const answerRefusal = (response: ServerResponse, { status, name, message }: Refusal): void => {
  answerJson(response, status, { message }, name);
};

/** The JSON body of a request; undefined if it is not JSON. */
export const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return body;
  } catch {
    return undefined;
  }
};

/** One call of the SES API or of the gate's own; `name` is what its path ends in. */
export type Answer = (request: IncomingMessage, response: ServerResponse, name: string) => Promise<void> | void;
