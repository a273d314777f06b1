import ses from 'aws-ses-v2-local';

import { HOST, reservePort } from '../ports.ts';
import type { Settings } from '../settings.ts';

/** Starts the page that shows the mails; the gate puts them into its store. */
export const startInbox = async (settings: Settings) => {
  const port = await reservePort(settings.ports.inbox);
  const server = await ses.default({ host: HOST, port });
  return {
    address: `http://${HOST}:${port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
};
