import { Agent, createServer, type IncomingMessage, request as httpRequest, type Server } from 'node:http';

import * as z from 'zod';

import { HOST, listen } from '../ports.ts';

/** What passed the doors. */
export interface Counts {
  /** Calls of DynamoDB by operation, and the capacity units they used. */
  readonly dynamodb: Readonly<Record<string, { readonly calls: number; readonly units: number }>>;
  /** Requests to SQS by action; receives that brought nothing are `EmptyReceive`. */
  readonly sqs: Readonly<Record<string, number>>;
}

const Capacity = z.object({ CapacityUnits: z.number() });
const Consumed = z.object({ ConsumedCapacity: z.union([Capacity.transform((one) => [one]), z.array(Capacity)]).optional() });
const Received = z.object({ Messages: z.array(z.unknown()).optional() });

/** Operations that can say what they used. */
const METERED =
  /^(PutItem|UpdateItem|DeleteItem|GetItem|Query|Scan|BatchGetItem|BatchWriteItem|TransactWriteItems|TransactGetItems|ExecuteStatement|BatchExecuteStatement|ExecuteTransaction)$/;

const readAll = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  return Buffer.concat(chunks);
};

const parseJson = <T>(schema: z.ZodType<T>, body: Buffer): T | undefined => {
  try {
    return schema.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    return undefined;
  }
};

interface DoorOptions {
  readonly target: string;
  /** Changes a request's body on its way. */
  readonly rewrite: (operation: string, body: Buffer) => Buffer;
  readonly note: (operation: string, answer: Buffer, status: number) => void;
}

/** Hands every request on and looks at what comes back. */
const startDoor = async ({ target, rewrite, note }: DoorOptions): Promise<{ address: string; server: Server }> => {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    const pass = async () => {
      const operation = String(request.headers['x-amz-target'] ?? '').split('.')[1] ?? 'Unknown';
      const body = rewrite(operation, await readAll(request));
      // Another length than before, and the emulators check no signature over it.
      const headers = { ...request.headers, 'content-length': String(body.length) };
      const { method, url: path } = request;
      const onward = httpRequest({ agent, hostname, port, method, path, headers }, (answer) => {
        void readAll(answer).then((content) => {
          note(operation, content, answer.statusCode ?? 0);
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          response.end(content);
        });
      });
      onward.once('error', () => response.destroy());
      response.once('close', () => {
        if (!response.writableFinished) onward.destroy();
      });
      onward.end(body);
    };
    pass().catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  const listening = await listen(server, { variable: 'a free port', port: 0 });
  return { address: `http://${HOST}:${listening}`, server };
};

const META = z.record(z.string(), z.unknown());

/** Puts a counting door before DynamoDB and one before SQS. */
export const startCountingDoors = async (targets: { readonly dynamodb: string; readonly sqs: string }) => {
  const dynamodb: Record<string, { calls: number; units: number }> = {};
  const sqs: Record<string, number> = {};

  const tables = await startDoor({
    target: targets.dynamodb,
    rewrite: (operation, body) => {
      const content = METERED.test(operation) ? parseJson(META, body) : undefined;
      return content ? Buffer.from(JSON.stringify({ ...content, ReturnConsumedCapacity: 'TOTAL' })) : body;
    },
    note: (operation, answer) => {
      const used = parseJson(Consumed, answer)?.ConsumedCapacity ?? [];
      const entry = (dynamodb[operation] ??= { calls: 0, units: 0 });
      entry.calls += 1;
      entry.units += used.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
    },
  });
  const queues = await startDoor({
    target: targets.sqs,
    rewrite: (_, body) => body,
    note: (operation, answer) => {
      const empty = operation === 'ReceiveMessage' && (parseJson(Received, answer)?.Messages ?? []).length === 0;
      const action = empty ? 'EmptyReceive' : operation;
      sqs[action] = (sqs[action] ?? 0) + 1;
    },
  });
  return {
    dynamodb: tables.address,
    sqs: queues.address,
    read: (): Counts => ({ dynamodb, sqs }),
    stop: () => {
      for (const { server } of [tables, queues]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
};
