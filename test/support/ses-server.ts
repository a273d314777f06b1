import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A stand-in for SES that answers as told. */
export interface SesServer {
  readonly url: string;
  /** Requests that were read to the end. */
  readonly posts: { readonly path: string; readonly body: string }[];
  readonly stop: () => Promise<void>;
}

export const startSesServer = async (
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<SesServer> => {
  const posts: SesServer['posts'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      posts.push({ path: request.url ?? '', body: Buffer.concat(chunks).toString('utf8') });
      answer(request, response);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    posts,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => {
          stopped();
        });
        server.closeAllConnections();
      }),
  };
};

/** An answer in the form of SES. */
export const json =
  (status: number, body: object | string, errorType?: string) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(errorType !== undefined && { 'x-amzn-errortype': errorType }),
    });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
