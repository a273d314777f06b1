import { createServer } from 'node:http';

import { HOST, listen } from '../../../local/ports.ts';

/** Serves the counts as JSON, for scripts. */
export const startCountsPage = async (read: () => object) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(read(), undefined, 2));
  });
  const port = await listen(server, { variable: 'a free port', port: 0 });
  return {
    address: `http://${HOST}:${port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
