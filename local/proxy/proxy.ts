import { Agent, createServer, type IncomingMessage, request as httpRequest } from 'node:http';

import { HOST, listen } from '../ports.ts';

/** A request on its way. */
export interface Passage {
  /** AWS's name of the call, such as `SendMessage`. */
  readonly operation: string;
  /** With the query. */
  readonly path: string;
  readonly body: Buffer;
}

/** What a proxy does with what passes. */
export interface ProxyOptions {
  readonly target: string;
  readonly operationOf?: (request: IncomingMessage) => string;
  /** @returns the body that goes on, or undefined to let nothing through and cut the connection */
  readonly onRequest: (passage: Passage) => Promise<Buffer | undefined> | Buffer;
  /** @returns whether the answer goes back; if not, the connection is cut */
  readonly onAnswer: (passage: Passage, answer: Buffer) => Promise<boolean> | boolean;
}

/** A door before an emulator. */
export interface Proxy {
  readonly address: string;
  /** Breaks every connection and refuses new ones for that long. */
  readonly shut: (ms: number) => void;
  readonly stop: () => void;
}

const readAll = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  return Buffer.concat(chunks);
};

/** In a header, for the services whose calls are JSON only: `DynamoDB_20120810.PutItem`. */
const operationOfTarget = ({ headers }: IncomingMessage): string =>
  String(headers['x-amz-target'] ?? '').split('.')[1] ?? 'Unknown';

/** Hands every request on and looks at it and at what comes back. */
export const startProxy = async ({
  target,
  operationOf = operationOfTarget,
  onRequest,
  onAnswer,
}: ProxyOptions): Promise<Proxy> => {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    const cut = () => {
      response.destroy();
    };
    const pass = async () => {
      const passage = { operation: operationOf(request), path: request.url ?? '/', body: await readAll(request) };
      const body = await onRequest(passage);
      if (body === undefined) {
        cut();
        return;
      }
      // Another length than before, and the emulators check no signature over it.
      const headers = { ...request.headers, 'content-length': String(body.length) };
      const { method, url: path } = request;
      const onward = httpRequest({ agent, hostname, port, method, path, headers }, (answer) => {
        const handBack = async () => {
          const content = await readAll(answer);
          if (!(await onAnswer(passage, content))) {
            cut();
            return;
          }
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          response.end(content);
        };
        handBack().catch(cut);
      });
      onward.once('error', cut);
      response.once('close', () => {
        if (!response.writableFinished) onward.destroy();
      });
      onward.end(body);
    };
    pass().catch(cut);
  });
  server.keepAliveTimeout = 60_000;
  const listening = await listen(server, { variable: 'a free port', port: 0 });
  let reopening: NodeJS.Timeout | undefined;
  return {
    address: `http://${HOST}:${listening}`,
    shut: (ms) => {
      clearTimeout(reopening);
      server.closeAllConnections();
      server.close();
      reopening = setTimeout(() => server.listen(listening, HOST), ms);
    },
    stop: () => {
      clearTimeout(reopening);
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
};
