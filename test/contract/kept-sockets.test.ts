import type { Socket } from 'node:net';

import { afterEach, expect, it, vi } from 'vitest';

import { createKeptSockets } from '../../lambda/adapters/ses/kept-sockets.ts';
import { createMailProvider } from '../../lambda/adapters/ses/mail-provider.ts';
import { createSesClient } from '../../lambda/adapters/ses/ses-client.ts';
import { createFakeClock } from '../support/clock.ts';
import { json, type SesServer, startSesServer } from '../support/ses-server.ts';

let server: SesServer | undefined;

afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.stop();
});

it.each([
  ['no longer than 20 s is used again', 20_000, 1],
  ['longer than that is closed before the next call (V9)', 20_001, 2],
])('a connection that was idle for %s', async (_name, idleMs, connections) => {
  const seen = new Set<Socket>();
  server = await startSesServer((request, response) => {
    seen.add(request.socket);
    json(200, { MessageId: 'm' })(request, response);
  });
  for (const [name, value] of Object.entries({ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-west-1' }))
    vi.stubEnv(name, value);
  vi.stubEnv('AWS_ENDPOINT_URL_SESV2', server.url);
  const clock = createFakeClock();
  const sockets = createKeptSockets(clock.now);
  const client = createSesClient(3, sockets);
  const provider = createMailProvider({ client, configurationSet: 'mail-events', timeoutSeconds: 3 });
  const isFree = () => Object.values(sockets.httpAgent.freeSockets).flat().length > 0;

  await provider.sendCanary('jobs@example.org');
  await vi.waitFor(() => {
    expect(isFree()).toBe(true);
  });
  clock.advance(idleMs);
  sockets.dropIdle(20_000);
  const answer = await provider.sendCanary('jobs@example.org');

  client.destroy();
  expect(answer.kind).toBe('accepted');
  expect(seen.size).toBe(connections);
});
