import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import type { Model } from '../cloudformation/model.ts';
import { NotUnderstoodError } from '../cloudformation/parse-resource.ts';
import { REGION } from '../cloudformation/types/identity.ts';
import type { Settings } from '../settings.ts';
import { createPool, type FunctionPool, type FunctionUse } from './pool.ts';

/** Addresses that take the place of AWS's in the functions' eyes. */
export interface FunctionEndpoints {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly sesv2: string;
  readonly s3: string;
  readonly events: string;
}

/** What Lambda itself puts into a function's environment, and what leads its clients to the emulators. */
const surroundings = (
  name: string,
  memory: number,
  endpoints: FunctionEndpoints,
  compileCache: string,
): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  TZ: ':UTC',
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: REGION,
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_NAME: name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memory),
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  NODE_COMPILE_CACHE: compileCache,
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
  AWS_ENDPOINT_URL_SQS: endpoints.sqs,
  AWS_ENDPOINT_URL_SESV2: endpoints.sesv2,
  AWS_ENDPOINT_URL_S3: endpoints.s3,
  AWS_ENDPOINT_URL_EVENTBRIDGE: endpoints.events,
});

/** The template's functions, each in processes of its own. */
export interface FunctionHost {
  /** By name or ARN; throws if the template has no such function. */
  readonly find: (nameOrArn: string) => FunctionPool;
  /** What each function has taken so far, by its name. */
  readonly used: () => Readonly<Record<string, FunctionUse & { readonly memoryMegabytes: number }>>;
  /** Loads the code before it is needed: several cold starts at once are slow on a machine with few cores. */
  readonly warm: (onTrouble: (text: string) => void) => Promise<void>;
  readonly stop: () => void;
}

/** Where a function finds the emulators. */
export interface Whereabouts {
  readonly endpointsOf: (functionName: string) => FunctionEndpoints;
  /** Where the template's queue URLs lead: the SDK asks the host that a URL names, whatever endpoint it was given. */
  readonly queueHost: string;
}

/** Makes the pools and keeps `processes.json` up to date, so that a person or a test can kill one process. */
export const createFunctionHost = (model: Model, settings: Settings, { endpointsOf, queueHost }: Whereabouts): FunctionHost => {
  const logs = join(settings.directory, 'logs');
  mkdirSync(logs, { recursive: true });
  const pools = new Map<string, FunctionPool>();
  let stopped = false;

  const file = join(settings.directory, 'processes.json');
  const writeProcesses = () => {
    if (stopped) return;
    const functions = [...pools.values()].flatMap((pool) => pool.pids().map((pid) => ({ function: pool.definition.name, pid })));
    // As a whole: somebody may be reading it.
    writeFileSync(`${file}.new`, JSON.stringify({ stack: process.pid, functions }, undefined, 2));
    renameSync(`${file}.new`, file);
  };
  for (const { resource, name, attributes, properties } of model.functions) {
    const directory = model.codeOf(properties.Code.S3Key);
    if (directory === undefined)
      throw new NotUnderstoodError(resource, `its code ${properties.Code.S3Key} is not in the assembly`);
    const endpoints = endpointsOf(name);
    const variables = Object.entries(properties.Environment.Variables);
    const environment = {
      ...surroundings(name, properties.MemorySize, endpoints, settings.compileCache),
      ...Object.fromEntries(variables.map(([key, value]) => [key, value.replace(`${queueHost}/`, `${endpoints.sqs}/`)])),
    };
    const pool = createPool(
      {
        name,
        arn: attributes['Arn'] ?? name,
        directory,
        handler: properties.Handler,
        timeoutSeconds: properties.Timeout,
        memoryMegabytes: properties.MemorySize,
        environment,
      },
      { concurrency: properties.ReservedConcurrentExecutions ?? settings.concurrency, logs, onChange: writeProcesses },
    );
    pools.set(name, pool);
  }
  return {
    find: (nameOrArn) => {
      const pool = pools.get(nameOrArn.split(':').at(-1) ?? '');
      if (pool === undefined) throw new Error(`no template describes the function ${nameOrArn}`);
      return pool;
    },
    used: () =>
      Object.fromEntries(
        [...pools.values()].map(({ definition: { name, memoryMegabytes }, used }) => [name, { ...used(), memoryMegabytes }]),
      ),
    warm: async (onTrouble) => {
      const warmOne = async (pool: FunctionPool, reserved: number) => {
        const broken = await pool.warm(reserved);
        if (broken?.ok === false) onTrouble(`${pool.definition.name} cannot start: ${broken.errorType}: ${broken.errorMessage}`);
      };
      const reserved = new Map(
        model.functions.map(({ name, properties }) => [name, properties.ReservedConcurrentExecutions ?? 1]),
      );
      // As many functions at once as there are processors: more would only take them from whoever else needs them.
      const cold = [...pools];
      const warmRest = async () => {
        for (let next = cold.shift(); next !== undefined; next = cold.shift()) {
          const [name, pool] = next;
          await warmOne(pool, reserved.get(name) ?? 1);
        }
      };
      await Promise.all(Array.from({ length: availableParallelism() }, warmRest));
    },
    stop: () => {
      stopped = true;
      for (const pool of pools.values()) pool.stop();
      rmSync(file, { force: true });
    },
  };
};
