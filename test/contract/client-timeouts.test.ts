import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';

import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListEventBusesCommand } from '@aws-sdk/client-eventbridge';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { GetAccountCommand } from '@aws-sdk/client-sesv2';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { createTableClient } from '../../lambda/adapters/dynamo/client/table-client.ts';
import { createEventBridgeClient } from '../../lambda/adapters/eventbridge/eventbridge-client.ts';
import { createS3Client } from '../../lambda/adapters/s3/s3-client.ts';
import { createSesClient, createSesReadClient } from '../../lambda/adapters/ses/ses-client.ts';
import { createSqsClient } from '../../lambda/adapters/sqs/sqs-client.ts';

const ADAPTERS = resolve(import.meta.dirname, '../../lambda/adapters');
const LAMBDA = resolve(import.meta.dirname, '../../lambda');

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

interface Case {
  /** One request that the server never answers. */
  readonly ask: () => Promise<unknown>;
  /** The longest that all tries of the client may take together. */
  readonly withinMs: number;
}

/** By the name of the function that makes the client. Short times where the caller gives them. */
const CLIENTS: Readonly<Record<string, Case>> = {
  createTableClient: { ask: () => createTableClient(200).send(new ListTablesCommand()), withinMs: 4_000 },
  createS3Client: { ask: () => createS3Client(200).send(new GetObjectCommand({ Bucket: 'b', Key: 'k' })), withinMs: 4_000 },
  createSesClient: { ask: () => createSesClient(0.3).send(new GetAccountCommand()), withinMs: 2_000 },
  createSesReadClient: { ask: () => createSesReadClient().send(new GetAccountCommand()), withinMs: 9_000 },
  createSqsClient: { ask: () => createSqsClient().send(new ListQueuesCommand()), withinMs: 5_000 },
  createEventBridgeClient: { ask: () => createEventBridgeClient().send(new ListEventBusesCommand()), withinMs: 5_000 },
};

let server: Server;

beforeAll(async () => {
  server = createServer(() => undefined);
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterAll(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

describe('every client of an AWS service', () => {
  it.concurrent.each(Object.entries(CLIENTS))(
    'gives up a request that is never answered: %s',
    async (_name, { ask, withinMs }) => {
      const startedAt = performance.now();

      await expect(ask()).rejects.toThrow();
      expect(performance.now() - startedAt).toBeLessThan(withinMs);
    },
  );

  it('is among them', () => {
    const made = filesOf(ADAPTERS).flatMap((file) =>
      [...readFileSync(join(ADAPTERS, file), 'utf8').matchAll(/export const (create\w+) = \([^)]*\): \w*Client =>/g)].map(
        ([, name]) => name,
      ),
    );

    expect(made.toSorted()).toEqual(Object.keys(CLIENTS).toSorted());
  });

  it('is made in a file of its adapter, and nowhere else', () => {
    const makers = filesOf(LAMBDA).filter((file) => /new \w+Client\(/.test(readFileSync(join(LAMBDA, file), 'utf8')));

    expect(makers.filter((file) => !/^adapters\/\w+\/(client\/)?[\w-]+-client\.ts$/.test(file))).toEqual([]);
  });
});
