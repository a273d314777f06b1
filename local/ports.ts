import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

import type { PortSetting } from './settings.ts';

/** The address everything listens at: nothing of the local stack is seen from outside. */
export const HOST = '127.0.0.1';

/** How long a port of a stack that was just killed may take to come free. */
const PATIENCE_MS = 2_000;

/** Somebody else listens where we want to. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';

  constructor({ port, variable }: PortSetting, cause: unknown) {
    super(`Port ${port} is taken. Stop what uses it, or set ${variable} to another port (0: any free one).`, { cause });
  }
}

const listenOnce = async (server: Server, port: number): Promise<number> => {
  server.listen(port, HOST);
  // Rejects if the server tells an error first.
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return address.port;
};

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

/** Listens at the wanted port, waiting a moment for it; answers the port in use. */
export const listen = async (server: Server, wanted: PortSetting): Promise<number> => {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await listenOnce(server, wanted.port);
    } catch (error) {
      if (!isTaken(error)) throw error;
      if (Date.now() > until) throw new PortTakenError(wanted, error);
      await new Promise((done) => setTimeout(done, 100));
    }
  }
};

/** A port for a server that does its own listening: the wanted one if it is free, any free one for 0. */
export const reservePort = async (wanted: PortSetting): Promise<number> => {
  const probe = createServer();
  const port = await listen(probe, wanted);
  await new Promise((done) => probe.close(done));
  return port;
};
