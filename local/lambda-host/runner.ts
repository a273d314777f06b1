// The process of one execution environment: loads a function's code and carries out one event after the other.
import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { type FromRunner, isToRunner } from './messages.ts';

type Handler = (event: unknown, context: unknown) => unknown;

const say = (message: FromRunner): Promise<void> =>
  new Promise((done) => {
    process.send?.(message, () => {
      done();
    });
  });

const describe = (error: unknown) => {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n').slice(1) };
};

const isHandler = (value: unknown): value is Handler => typeof value === 'function';

const load = async (directory: string, handlerName: string): Promise<Handler> => {
  const [file, name] = handlerName.split('.');
  const code: unknown = await import(pathToFileURL(resolve(directory, `${file ?? ''}.mjs`)).href);
  const handler: unknown = typeof code === 'object' && code !== null ? Reflect.get(code, name ?? '') : undefined;
  if (!isHandler(handler)) throw new Error(`${handlerName} is not a function of ${directory}`);
  return handler;
};

const start = async () => {
  const [, , directory = '', handlerName = ''] = process.argv;
  // Ctrl-C goes to every process of the terminal; the host decides when we end.
  process.on('SIGINT', () => undefined);
  process.on('disconnect', () => process.exit(0));

  let handler: Handler;
  try {
    handler = await load(directory, handlerName);
  } catch (error) {
    await say({ kind: 'broken', ...describe(error) });
    process.exit(1);
  }
  process.on('message', (raw) => {
    if (!isToRunner(raw)) return;
    const { id, event, deadline, functionName, memoryMegabytes, functionArn } = raw;
    const context = {
      awsRequestId: id,
      functionName,
      functionVersion: '$LATEST',
      invokedFunctionArn: functionArn,
      memoryLimitInMB: String(memoryMegabytes),
      logGroupName: `/aws/lambda/${functionName}`,
      logStreamName: String(process.pid),
      callbackWaitsForEmptyEventLoop: false,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    // Within `then`, so that a handler that throws at once is answered like one that rejects.
    const begun = { at: performance.now(), usage: process.cpuUsage() };
    const running = Promise.resolve().then(() => handler(JSON.parse(event), context));
    running.then(
      (result) => {
        const payload = JSON.stringify(result ?? null);
        const { user, system } = process.cpuUsage(begun.usage);
        const took = { milliseconds: performance.now() - begun.at, processorMilliseconds: (user + system) / 1_000 };
        return say({ kind: 'done', id, payload, took });
      },
      (error: unknown) => say({ kind: 'failed', id, ...describe(error) }),
    );
  });
  await say({ kind: 'ready' });
  // Otherwise written at exit only, and we end by being killed.
  flushCompileCache();
};

void start();
