import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

import { ROOT } from '../settings.ts';
import { StackFile } from '../stack-file.ts';

/** A stack is up within 10 s; on a machine that many share it may take minutes. */
const START_MS = 600_000;
const POLL_MS = 50;

const ANY_FREE_PORTS = Object.fromEntries(
  ['API', 'INBOX', 'ISSUER', 'SES', 'SQS', 'DYNAMODB'].map((name) => [`LOCAL_${name}_PORT`, '0']),
);

const Processes = z.object({ stack: z.number(), functions: z.array(z.object({ function: z.string(), pid: z.number() })) });

/** One process of a function. */
export type FunctionProcess = z.output<typeof Processes>['functions'][number];

/** A stack in a process of its own. */
export interface LaunchedStack {
  readonly description: StackFile;
  readonly directory: string;
  /** The processes of its functions, now. */
  readonly processes: () => readonly FunctionProcess[];
  /** Ctrl-C, and waiting for the end. */
  readonly stop: () => Promise<void>;
  /** kill -9, of the stack and of every function. */
  readonly kill: () => Promise<void>;
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const readProcesses = (directory: string): z.output<typeof Processes> => {
  const file = join(directory, 'processes.json');
  if (!existsSync(file)) return { stack: 0, functions: [] };
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return Processes.parse(content);
};

const killOne = (pid: number) => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was gone already.
  }
};

const waitForFile = async (child: ChildProcess, directory: string, log: string): Promise<StackFile> => {
  const file = join(directory, 'stack.json');
  const until = Date.now() + START_MS;
  while (Date.now() < until) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    if (existsSync(file)) {
      const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
      return StackFile.parse(content);
    }
    await sleep(POLL_MS);
  }
  child.kill('SIGKILL');
  throw new Error(`the local stack did not come up:\n${readFileSync(log, 'utf8')}`);
};

/** Starts a stack at free ports, in the folder; resolves when it is up. What it prints goes to `stack.log` there. */
export const launchStack = async (directory: string, environment: Readonly<Record<string, string>>): Promise<LaunchedStack> => {
  mkdirSync(directory, { recursive: true });
  const log = join(directory, 'stack.log');
  const descriptor = openSync(log, 'a');
  const child = spawn(process.execPath, [join(ROOT, 'local/start.ts')], {
    cwd: ROOT,
    env: { ...process.env, ...ANY_FREE_PORTS, LOCAL_DIR: directory, ...environment },
    stdio: ['ignore', descriptor, descriptor],
  });
  closeSync(descriptor);
  const { promise: ended, resolve } = Promise.withResolvers<undefined>();
  child.once('exit', () => {
    resolve(undefined);
  });
  // A stack that a kill left there has left its file, too; the new one removes it first thing, but not before we look.
  const old = join(directory, 'stack.json');
  const before = existsSync(old) ? readFileSync(old, 'utf8') : undefined;
  while (before !== undefined && existsSync(old) && readFileSync(old, 'utf8') === before && child.exitCode === null) {
    await sleep(POLL_MS);
  }
  const description = await waitForFile(child, directory, log);
  return {
    description,
    directory,
    processes: () => readProcesses(directory).functions,
    stop: async () => {
      child.kill('SIGINT');
      await ended;
    },
    kill: async () => {
      const { functions } = readProcesses(directory);
      child.kill('SIGKILL');
      for (const { pid } of functions) killOne(pid);
      await ended;
    },
  };
};
