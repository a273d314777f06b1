import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { HOST, reservePort } from '../ports.ts';
import { ROOT, type Settings } from '../settings.ts';
import { indexStreamRecords } from './stream-index.ts';

const BINARY = join(ROOT, 'node_modules/@dynoxide/linux-x64/dynoxide');
const START_MS = 5_000;

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
const spawnWatchdog = (pid: number): ChildProcess =>
  spawn('/bin/sh', ['-c', `read -r _; kill -9 ${pid}`], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });

/** Starts the server that comes with the project, on a file in the stack's folder. */
const startOwn = async (settings: Settings, onExit: (reason: string) => void): Promise<DynamoDbServer> => {
  if (!existsSync(BINARY)) {
    throw new Error(
      'The DynamoDB server that comes with this project runs on Linux x64 only (package @dynoxide/linux-x64). ' +
        'Start any other DynamoDB-compatible server, for instance `docker run -p 8000:8000 amazon/dynamodb-local`, ' +
        'and say where: DYNAMODB_ENDPOINT=http://127.0.0.1:8000 npm start',
    );
  }
  const port = await reservePort(settings.ports.dynamodb);
  const endpoint = `http://${HOST}:${port}`;
  // Detached: Ctrl-C reaches the whole terminal group, and the functions need the database while they finish.
  const file = join(settings.directory, 'dynamodb.sqlite');
  const server = spawn(BINARY, ['--port', String(port), '--db-path', file], {
    stdio: 'ignore',
    detached: true,
  });
  const exited = new Promise<void>((resolve) => {
    server.once('exit', () => {
      resolve();
    });
    server.once('error', () => {
      resolve();
    });
  });
  if (server.pid === undefined) throw new Error(`${BINARY} cannot be started`);
  const watchdog = spawnWatchdog(server.pid);

  const alive = () => server.exitCode === null && server.signalCode === null;
  const until = Date.now() + START_MS;
  // Asked only while our own process lives: another server at this port would answer just as well.
  while (alive() && !(await answers(endpoint))) {
    if (Date.now() > until) break;
    await new Promise((done) => setTimeout(done, 20));
  }
  const stop = async () => {
    watchdog.kill('SIGKILL');
    server.kill('SIGTERM');
    const killer = setTimeout(() => server.kill('SIGKILL'), 500);
    await exited;
    clearTimeout(killer);
  };
  if (!alive()) {
    watchdog.kill('SIGKILL');
    throw new Error(`dynoxide ended at once (exit code ${String(server.exitCode)}); is ${settings.directory} writable?`);
  }
  indexStreamRecords(file);
  let stopping = false;
  void exited.then(() => {
    watchdog.kill('SIGKILL');
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

/** The server named by DYNAMODB_ENDPOINT, or our own. */
export const startDynamoDb = async (settings: Settings, onExit: (reason: string) => void): Promise<DynamoDbServer> => {
  const endpoint = settings.dynamodbEndpoint;
  if (endpoint === undefined) return startOwn(settings, onExit);
  if (!(await answers(endpoint))) throw new Error(`DYNAMODB_ENDPOINT is ${endpoint}, but nothing answers there.`);
  return { endpoint: endpoint.replace(/\/$/, ''), stop: () => Promise.resolve() };
};
