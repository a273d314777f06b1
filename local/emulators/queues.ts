import { join } from 'node:path';

import { buildApp } from 'fauxqs';
import * as z from 'zod';

import { REGION } from '../cloudformation/types/identity.ts';
import { HOST, reservePort } from '../ports.ts';
import type { RecordedOutput } from '../recorded-output.ts';
import type { Settings } from '../settings.ts';
import { createStores } from './stores.ts';

const Message = z.looseObject({ MessageBody: z.string() });
/** Of the calls that put messages into a queue, `SendMessage` and `SendMessageBatch`. */
const Sending = z.union([
  z.object({ QueueUrl: z.string(), Entries: z.array(Message) }),
  z.looseObject({ QueueUrl: z.string(), ...Message.shape }).transform((one) => ({ QueueUrl: one.QueueUrl, Entries: [one] })),
]);

/**
 * Starts the emulated SQS, SNS and S3: one server. Queues and topics are in memory; objects are files, written before a call is
 * answered, so that they survive a kill as the table does.
 */
export const startQueues = async (settings: Settings, recorded: RecordedOutput) => {
  const port = await reservePort(settings.ports.sqs);
  const app = buildApp({ logger: false, defaultRegion: REGION, stores: createStores(join(settings.directory, 'objects')) });
  app.addHook('preHandler', (request, _reply, done) => {
    const { QueueUrl = '', Entries = [] } = Sending.safeParse(request.body).data ?? {};
    for (const message of Entries) recorded.message(QueueUrl, message);
    done();
  });
  await app.listen({ host: HOST, port });
  return { endpoint: `http://${HOST}:${port}`, stop: () => app.close() };
};
