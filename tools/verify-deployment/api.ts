import * as z from 'zod';

import type { Waiting } from './waiting.ts';

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of it, or its text if that is none. */
  readonly body: unknown;
}

/** An answer that a check did not expect. */
export class UnexpectedAnswer extends Error {
  readonly asked: string;
  readonly answer: Answer;

  constructor(asked: string, answer: Answer) {
    super(`${asked} was answered ${describeAnswer(answer)}`);
    this.name = 'UnexpectedAnswer';
    this.asked = asked;
    this.answer = answer;
  }
}

/** How a request is sent. */
export interface Asking {
  readonly as?: 'sender' | 'operator' | 'nobody';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

const TIMEOUT_MS = 60_000;
/** API Gateway's own answers to too many requests, and ours when a store does not answer. */
const ASK_AGAIN = new Set([429, 503]);

const Problem = z.looseObject({
  type: z.string(),
  errors: z.array(z.looseObject({ pointer: z.string(), rule: z.string() })).optional(),
});

/** The code of the problem that an answer describes; undefined if it describes none. */
export const problemOf = ({ body }: Pick<Answer, 'body'>): string | undefined =>
  Problem.safeParse(body).data?.type.split(':').at(-1);

/** Status, code of the problem and first fault: never a value that was sent. */
export const describeAnswer = (answer: Answer): string => {
  const [fault] = Problem.safeParse(answer.body).data?.errors ?? [];
  const where = fault && `(${fault.rule} at ${fault.pointer})`;
  return [String(answer.status), problemOf(answer), where].filter((part) => part !== undefined).join(' ');
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** A client of the API at an address. */
export const createApi = (
  address: string,
  tokens: Readonly<Record<'sender' | 'operator', string>>,
  waiting: Waiting,
  waitSeconds: number,
) => {
  const askOnce = async (method: string, path: string, { as = 'sender', headers = {}, body }: Asking): Promise<Answer> => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { ...(as !== 'nobody' && { authorization: `Bearer ${tokens[as]}` }), ...headers },
      // An accept under way is not cut off by Ctrl-C: its dispatch must be known to be cancelled.
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body }),
    });
    return { status: response.status, headers: response.headers, body: parseJson(await response.text()) };
  };
  /** Asks again after 429 and 503, as the API says. */
  const ask = async (method: string, path: string, asking: Asking = {}): Promise<Answer> => {
    const { last } = await waiting.until(
      () => askOnce(method, path, asking),
      ({ status }) => !ASK_AGAIN.has(status),
      Math.min(30, waitSeconds),
    );
    return last;
  };
  const json = (method: string, path: string, body: unknown, asking: Asking = {}): Promise<Answer> =>
    ask(method, path, {
      ...asking,
      headers: { 'content-type': 'application/json', ...asking.headers },
      body: JSON.stringify(body),
    });
  return {
    ask,
    /** The same with a JSON body. */
    json,
    /** Asks once, whatever comes, also after Ctrl-C: for putting things back. */
    askOnce,
    /** Asks, and reads the answer; throws UnexpectedAnswer unless it is 200 and of that form. */
    read: async <T>(path: string, form: z.ZodType<T>, asking: Asking = {}): Promise<T> => {
      const answer = await ask('GET', path, asking);
      const read = form.safeParse(answer.body);
      if (answer.status === 200 && read.success) return read.data;
      throw new UnexpectedAnswer(`GET ${path.replace(/[a-z2-7]{52}/, '{id}')}`, answer);
    },
  };
};

/** The client of one run. */
export type Api = ReturnType<typeof createApi>;
