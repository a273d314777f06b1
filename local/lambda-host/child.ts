import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { isFromRunner, type Took, type ToRunner } from './messages.ts';

const RUNNER = join(import.meta.dirname, 'runner.ts');
/** As in Lambda: what loading the code may take. */
const INIT_MS = 10_000;

/** What a function and its processes are made of. */
export interface FunctionDefinition {
  readonly name: string;
  readonly arn: string;
  readonly directory: string;
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** What came of one event. */
export type InvokeResult =
  | { readonly ok: true; readonly payload: string; readonly took?: Took }
  | { readonly ok: false; readonly errorType: string; readonly errorMessage: string };

/** One execution environment: a process that takes one event at a time. */
export interface FunctionChild {
  readonly pid: number;
  /** False once it is known to be ending: the next event needs another process. */
  readonly usable: () => boolean;
  readonly invoke: (event: string) => Promise<InvokeResult>;
  /** Settles when the code is loaded; answers why it could not be, if so. */
  readonly loaded: Promise<InvokeResult | undefined>;
  /** Settles when the process is gone. */
  readonly ended: Promise<void>;
  readonly kill: () => void;
}

const failure = (errorType: string, errorMessage: string): InvokeResult => ({ ok: false, errorType, errorMessage });

/** Starts a process of the function; its output goes to the log's file descriptor as it is. */
export const startChild = (
  definition: FunctionDefinition,
  log: { readonly descriptor: number; readonly write: (line: object) => void },
  onExit: () => void,
): FunctionChild => {
  const child = fork(RUNNER, [definition.directory, definition.handler], {
    env: { ...definition.environment },
    stdio: ['ignore', log.descriptor, log.descriptor, 'ipc'],
  });
  let settle: ((result: InvokeResult) => void) | undefined;
  let begin: (() => void) | undefined;
  let ready = false;
  let broken: InvokeResult | undefined;
  const { promise: loaded, resolve: tellLoaded } = Promise.withResolvers<InvokeResult | undefined>();
  const { promise: ended, resolve: tellEnded } = Promise.withResolvers<undefined>();

  const finish = (result: InvokeResult) => {
    const answer = settle;
    settle = undefined;
    if (!ready) tellLoaded(result);
    answer?.(result);
  };
  child.on('message', (raw) => {
    if (!isFromRunner(raw)) return;
    const message = raw;
    if (message.kind === 'ready') {
      ready = true;
      tellLoaded(undefined);
      begin?.();
      return;
    }
    if (message.kind === 'done') {
      finish({ ok: true, payload: message.payload, took: message.took });
      return;
    }
    log.write({ level: 'ERROR', errorType: message.errorType, errorMessage: message.errorMessage, stackTrace: message.trace });
    const failed = failure(message.errorType, message.errorMessage);
    if (message.kind === 'broken') broken = failed;
    finish(failed);
  });
  child.once('exit', (code, signal) => {
    tellEnded(undefined);
    onExit();
    broken ??= failure('Runtime.ExitError', `Runtime exited with error: ${signal ?? `exit status ${String(code)}`}`);
    finish(broken);
  });
  child.once('error', (error) => {
    if (child.pid === undefined) tellEnded(undefined);
    broken = failure('Runtime.SpawnError', error.message);
    finish(broken);
  });

  const kill = () => {
    child.kill('SIGKILL');
  };
  const timeOut = (id: string, seconds: number) => {
    log.write({ level: 'ERROR', requestId: id, errorMessage: `Task timed out after ${seconds.toFixed(2)} seconds` });
    broken = failure('Sandbox.Timedout', `RequestId: ${id} Error: Task timed out after ${seconds.toFixed(2)} seconds`);
    kill();
    finish(broken);
  };

  const invoke = (event: string): Promise<InvokeResult> =>
    new Promise((resolve) => {
      const id = randomUUID();
      let timer: NodeJS.Timeout | undefined;
      settle = (result) => {
        clearTimeout(timer);
        resolve(result);
      };
      if (child.exitCode !== null || child.signalCode !== null) {
        finish(broken ?? failure('Runtime.ExitError', 'Runtime exited'));
        return;
      }
      begin = () => {
        begin = undefined;
        clearTimeout(timer);
        timer = setTimeout(() => {
          timeOut(id, definition.timeoutSeconds);
        }, definition.timeoutSeconds * 1000);
        const message: ToRunner = {
          id,
          event,
          deadline: Date.now() + definition.timeoutSeconds * 1000,
          functionName: definition.name,
          functionArn: definition.arn,
          memoryMegabytes: definition.memoryMegabytes,
        };
        child.send(message, (error) => {
          if (error) finish(failure('Runtime.ExitError', error.message));
        });
      };
      if (ready) begin();
      else {
        timer = setTimeout(() => {
          timeOut(id, INIT_MS / 1000);
        }, INIT_MS);
      }
    });

  return { pid: child.pid ?? 0, usable: () => broken === undefined, invoke, loaded, ended, kill };
};
