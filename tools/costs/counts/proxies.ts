import * as z from 'zod';

import { startProxy } from '../../../local/proxy/proxy.ts';
import { heaviestPartition, type PartitionUnits } from './partition-units.ts';

/** What passed the proxies. */
export interface Counts {
  /** Calls of DynamoDB by operation, and the capacity units they used. */
  readonly dynamodb: Readonly<Record<string, { readonly calls: number; readonly units: number }>>;
  /** Of each transaction, oldest first, the partition key that gets most, and what the server billed for all. */
  readonly transactions: readonly (PartitionUnits & { readonly billed: number })[];
  /** Requests to SQS by action; receives that brought nothing are `EmptyReceive`. */
  readonly sqs: Readonly<Record<string, number>>;
}

const Capacity = z.object({ CapacityUnits: z.number() });
const Consumed = z.object({ ConsumedCapacity: z.union([Capacity.transform((one) => [one]), z.array(Capacity)]).optional() });
const Received = z.object({ Messages: z.array(z.unknown()).optional() });

/** Operations that can say what they used. */
const METERED =
  /^(PutItem|UpdateItem|DeleteItem|GetItem|Query|Scan|BatchGetItem|BatchWriteItem|TransactWriteItems|TransactGetItems|ExecuteStatement|BatchExecuteStatement|ExecuteTransaction)$/;

const parseJson = <T>(schema: z.ZodType<T>, body: Buffer): T | undefined => {
  try {
    return schema.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    return undefined;
  }
};

const META = z.record(z.string(), z.unknown());
const Heaviest = z.unknown().transform(heaviestPartition);

/** Puts a counting proxy before DynamoDB and another before SQS. */
export const startCountingProxies = async (targets: { readonly dynamodb: string; readonly sqs: string }) => {
  const dynamodb: Record<string, { calls: number; units: number }> = {};
  const transactions: (PartitionUnits & { readonly billed: number })[] = [];
  const sqs: Record<string, number> = {};

  const tables = await startProxy({
    target: targets.dynamodb,
    onRequest: ({ operation, body }) => {
      const content = METERED.test(operation) ? parseJson(META, body) : undefined;
      return content ? Buffer.from(JSON.stringify({ ...content, ReturnConsumedCapacity: 'TOTAL' })) : body;
    },
    onAnswer: ({ operation, body }, answer) => {
      const used = parseJson(Consumed, answer)?.ConsumedCapacity ?? [];
      const entry = (dynamodb[operation] ??= { calls: 0, units: 0 });
      entry.calls += 1;
      const billed = used.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
      entry.units += billed;
      const heaviest = operation === 'TransactWriteItems' ? parseJson(Heaviest, body) : undefined;
      if (heaviest && billed > 0) transactions.push({ ...heaviest, billed });
      return true;
    },
  });
  const queues = await startProxy({
    target: targets.sqs,
    onRequest: ({ body }) => body,
    onAnswer: ({ operation }, answer) => {
      const empty = operation === 'ReceiveMessage' && (parseJson(Received, answer)?.Messages ?? []).length === 0;
      const action = empty ? 'EmptyReceive' : operation;
      sqs[action] = (sqs[action] ?? 0) + 1;
      return true;
    },
  });
  return {
    dynamodb: tables.address,
    sqs: queues.address,
    read: (): Counts => ({ dynamodb, transactions, sqs }),
    stop: () => {
      tables.stop();
      queues.stop();
    },
  };
};
