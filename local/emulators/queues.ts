import { buildApp } from 'fauxqs';

import { HOST, reservePort } from '../ports.ts';
import type { Settings } from '../settings.ts';
import { REGION } from '../template/identity.ts';

/** Starts the emulated SQS, SNS and S3: one server, all in memory. */
export const startQueues = async (settings: Settings) => {
  const port = await reservePort(settings.ports.sqs);
  const app = buildApp({ logger: false, defaultRegion: REGION });
  await app.listen({ host: HOST, port });
  return { endpoint: `http://${HOST}:${port}`, stop: () => app.close() };
};
