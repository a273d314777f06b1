import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { HOST, reservePort } from '../ports.ts';
import { ROOT, type Settings } from '../settings.ts';
import { findJava, JAR_FOLDER, javaArguments } from './dynamodb-local.ts';
import { type DynamoDbSource, findDynamoDb } from './find-dynamodb.ts';
import { indexStreamRecords } from './stream-index.ts';

/** A DynamoDB to work with. */
export interface DynamoDbServer {
  readonly endpoint: string;
  readonly stop: () => Promise<void>;
}

const answers = async (endpoint: string): Promise<boolean> => {
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(500) });
    return true;
  } catch {
    return false;
  }
};

/** Kills the server as soon as the pipe to us breaks: a stack killed with -9 must not leave it behind, holding port and file. */
const spawnWatchdog = (pid: number): ChildProcess | undefined =>
  // Windows has no /bin/sh: there, a stack that is killed leaves the server running.
  process.platform === 'win32'
    ? undefined
    : spawn('/bin/sh', ['-c', `read -r _; kill -9 ${pid}`], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });

/** A server as a command, with its data in a file of the stack's folder. */
interface ServerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly startMs: number;
  /** Called once the server answers. */
  readonly onReady: () => void;
}

const dynoxideCommand = (binary: string, port: number, directory: string): ServerCommand => {
  const database = join(directory, 'dynamodb.sqlite');
  return {
    file: binary,
    args: ['--port', String(port), '--db-path', database],
    startMs: 5_000,
    onReady: () => {
      indexStreamRecords(database);
    },
  };
};

const dynamoDbLocalCommand = (jarFolder: string, port: number, directory: string): ServerCommand => ({
  file: 'java',
  args: javaArguments(jarFolder, port, ['-dbPath', directory]),
  startMs: 30_000,
  onReady: () => undefined,
});

type OwnServer = Exclude<DynamoDbSource, { readonly type: 'endpoint' | 'none' }>;

/** Starts a server of our own, on a file in the stack's folder. */
const startOwn = async (source: OwnServer, settings: Settings, onExit: (reason: string) => void): Promise<DynamoDbServer> => {
  const port = await reservePort(settings.ports.dynamodb);
  const endpoint = `http://${HOST}:${port}`;
  const command =
    source.type === 'dynoxide'
      ? dynoxideCommand(source.binary, port, settings.directory)
      : dynamoDbLocalCommand(source.jarFolder, port, settings.directory);
  // Detached: Ctrl-C reaches the whole terminal group, and the functions need the database while they finish.
  const server = spawn(command.file, command.args, { stdio: 'ignore', detached: true });
  const exited = new Promise<void>((resolve) => {
    server.once('exit', () => {
      resolve();
    });
    server.once('error', () => {
      resolve();
    });
  });
  if (server.pid === undefined) throw new Error(`${command.file} cannot be started`);
  const watchdog = spawnWatchdog(server.pid);

  const alive = () => server.exitCode === null && server.signalCode === null;
  const until = Date.now() + command.startMs;
  // Asked only while our own process lives: another server at this port would answer just as well.
  while (alive() && !(await answers(endpoint))) {
    if (Date.now() > until) break;
    await new Promise((done) => setTimeout(done, 20));
  }
  const stop = async () => {
    watchdog?.kill('SIGKILL');
    server.kill('SIGTERM');
    const killer = setTimeout(() => server.kill('SIGKILL'), 500);
    await exited;
    clearTimeout(killer);
  };
  if (!alive()) {
    watchdog?.kill('SIGKILL');
    throw new Error(`${source.type} ended at once (exit code ${String(server.exitCode)}); is ${settings.directory} writable?`);
  }
  command.onReady();
  let stopping = false;
  void exited.then(() => {
    watchdog?.kill('SIGKILL');
    if (!stopping) onExit('the DynamoDB server ended');
  });
  return {
    endpoint,
    stop: () => {
      stopping = true;
      return stop();
    },
  };
};

/** The first server that this machine has; `findDynamoDb` has the order. Throws an error with advice if there is none. */
export const startDynamoDb = async (settings: Settings, onExit: (reason: string) => void): Promise<DynamoDbServer> => {
  const source = findDynamoDb({
    platform: process.platform,
    arch: process.arch,
    endpoint: settings.dynamodbEndpoint,
    searchPath: process.env['PATH'] ?? '',
    nodeModules: join(ROOT, 'node_modules'),
    jarFolder: JAR_FOLDER,
    exists: existsSync,
    javaVersion: findJava,
  });
  if (source.type === 'none') throw new Error(source.advice);
  if (source.type !== 'endpoint') return startOwn(source, settings, onExit);
  const { endpoint } = source;
  if (!(await answers(endpoint))) throw new Error(`DYNAMODB_ENDPOINT is ${endpoint}, but nothing answers there.`);
  return { endpoint, stop: () => Promise.resolve() };
};
