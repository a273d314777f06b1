import * as z from 'zod';

const Structured = z.object({
  statusCode: z.coerce.number().int().min(100).max(599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).nullish(),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/** What goes back to the client. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

/** An answer of the gateway itself: its JSON, not the application's. */
export const gatewayAnswer = (status: number, message: string): HttpAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ message })),
});

/** Reads a function's answer; one without a status code is itself the JSON body of a 200. */
export const readHttpAnswer = (payload: string): HttpAnswer => {
  const value: unknown = JSON.parse(payload);
  const hasStatus = typeof value === 'object' && value !== null && 'statusCode' in value;
  if (!hasStatus) {
    const body = typeof value === 'string' ? value : payload;
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) };
  }
  const answer = Structured.safeParse(value);
  if (!answer.success) return gatewayAnswer(500, 'Internal Server Error');
  const { statusCode, headers, cookies, body, isBase64Encoded } = answer.data;
  return {
    status: statusCode,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      ...Object.fromEntries(Object.entries(headers ?? {}).map(([name, text]) => [name.toLowerCase(), text])),
      ...(cookies && { 'set-cookie': cookies }),
    },
    body: Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8'),
  };
};
