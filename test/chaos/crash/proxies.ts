import type { IncomingMessage } from 'node:http';

import type { FunctionEndpoints } from '../../../local/lambda-host/host.ts';
import { type Passage, type Proxy, startProxy } from '../../../local/proxy/proxy.ts';
import type { CrashPlan, Outage } from './plan.ts';

/** Calls of SES have no name in a header. */
const SES_OPERATIONS: readonly (readonly [method: string, path: RegExp, operation: string])[] = [
  ['POST', /^\/v2\/email\/outbound-emails$/, 'SendEmail'],
  ['GET', /^\/v2\/email\/account$/, 'GetAccount'],
  ['GET', /^\/v2\/email\/templates\/./, 'GetEmailTemplate'],
];

/** Nor have those of S3: of objects the method tells, with or without a key. */
const operationOfObject = ({ method = '', url = '/' }: IncomingMessage): string => {
  const hasKey = new URL(url, 'http://s3').pathname.split('/').filter(Boolean).length > 1;
  return { PUT: 'PutObject', GET: hasKey ? 'GetObject' : 'ListObjectsV2', DELETE: 'DeleteObject' }[method] ?? 'Unknown';
};

const operationOfPath = ({ method, url = '/' }: IncomingMessage): string =>
  SES_OPERATIONS.find(([verb, path]) => verb === method && path.test(url.split('?')[0] ?? '/'))?.[2] ?? 'Unknown';

export interface CrashProxyOptions {
  readonly functionNames: readonly string[];
  readonly targets: FunctionEndpoints;
  readonly plan: CrashPlan;
  /** kill -9 of a function's processes; resolves when they are gone. */
  readonly crash: (functionName: string) => Promise<void>;
}

type Service = Outage['service'];

/** Puts proxies before DynamoDB, SQS, SES, EventBridge and S3, for each function its own, so that a proxy knows who calls. */
export const startCrashProxies = async ({ functionNames, targets, plan, crash }: CrashProxyOptions) => {
  const proxies: { readonly functionName: string; readonly service: Service; readonly proxy: Proxy }[] = [];
  const open = async (functionName: string, service: Service, target: string): Promise<string> => {
    const strike = async ({ operation, path, body }: Passage, when: 'before' | 'after'): Promise<boolean> => {
      // What an object is about stands in its key; its bytes are packed.
      const about = service === 's3' ? Buffer.from(path) : body;
      if (!plan.strikes({ functionName, service, operation, when, body: about })) return false;
      // Dead before the connection is cut: nothing may be done about a call that failed.
      await crash(functionName);
      return true;
    };
    const proxy = await startProxy({
      target,
      ...(service === 'ses' && { operationOf: operationOfPath }),
      ...(service === 's3' && { operationOf: operationOfObject }),
      onRequest: async (passage) => ((await strike(passage, 'before')) ? undefined : passage.body),
      onAnswer: async (passage) => !(await strike(passage, 'after')),
    });
    proxies.push({ functionName, service, proxy });
    return proxy.address;
  };
  const endpoints = new Map<string, FunctionEndpoints>();
  for (const name of functionNames) {
    endpoints.set(name, {
      ...targets,
      dynamodb: await open(name, 'dynamodb', targets.dynamodb),
      sqs: await open(name, 'sqs', targets.sqs),
      sesv2: await open(name, 'ses', targets.sesv2),
      events: await open(name, 'events', targets.events),
      s3: await open(name, 's3', targets.s3),
    });
  }
  return {
    endpointsOf: (functionName: string): FunctionEndpoints => endpoints.get(functionName) ?? targets,
    /** Crashes the function if that is ordered for the moment before its messages are deleted from their queue. */
    crashBeforeDelete: async (functionName: string): Promise<boolean> => {
      if (!plan.strikes({ functionName, service: 'host', operation: 'DeleteMessageBatch', when: 'before' })) return false;
      await crash(functionName);
      return true;
    },
    /** The functions cannot reach the service for that long. */
    cutOff: ({ function: name, service, seconds }: Outage) => {
      for (const each of proxies) {
        if (each.functionName.startsWith(name) && each.service === service) each.proxy.shut(seconds * 1000);
      }
    },
    stop: () => {
      for (const { proxy } of proxies) proxy.stop();
    },
  };
};
