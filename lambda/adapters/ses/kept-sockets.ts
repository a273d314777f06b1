import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

import type { Clock } from '../../application/ports/system.ts';

/** The connections to SES that are kept open between calls. */
export interface KeptSockets {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
  /** Closes those that no call used for so long. SES may have closed them while the environment was frozen, and a call would be lost. */
  dropIdle(idleMs: number): void;
}

/** The SDK's own limit. */
const MOST_SOCKETS = 50;

export const createKeptSockets = (clock: Clock): KeptSockets => {
  const options = { keepAlive: true, maxSockets: MOST_SOCKETS };
  const httpAgent = new HttpAgent(options);
  const httpsAgent = new HttpsAgent(options);
  const freeSince = new WeakMap<object, number>();
  for (const agent of [httpAgent, httpsAgent])
    agent.on('free', (socket: object) => {
      freeSince.set(socket, clock());
    });

  return {
    httpAgent,
    httpsAgent,
    dropIdle(idleMs) {
      for (const agent of [httpAgent, httpsAgent]) {
        for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) {
          if (clock() - (freeSince.get(socket) ?? 0) > idleMs) socket.destroy();
        }
      }
    },
  };
};
