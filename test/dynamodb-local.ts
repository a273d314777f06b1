// `npm run test:dynamodb-local`: the integration tests against AWS's own DynamoDB Local.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { CACHE, findJava, JAR_FOLDER, javaArguments } from '../local/emulators/dynamodb-local.ts';
import { OLDEST_JAVA } from '../local/emulators/find-dynamodb.ts';
import { HOST, reservePort } from '../local/ports.ts';
import { ROOT } from '../local/settings.ts';

/** The package that carries DynamoDB Local's jar. */
const PACKAGE = 'amplify-dynamodb-simulator@2.9.30';
const START_MS = 30_000;

/** The folder of the jar; downloaded on first use to a cache outside the repository. */
const provideJar = (): string => {
  if (existsSync(join(JAR_FOLDER, 'DynamoDBLocal.jar'))) return JAR_FOLDER;
  console.log(`Downloading ${PACKAGE} to ${CACHE} ...`);
  mkdirSync(CACHE, { recursive: true });
  execFileSync('npm', ['pack', PACKAGE, '--pack-destination', CACHE], { stdio: ['ignore', 'ignore', 'inherit'] });
  const archive = readdirSync(CACHE).find((name) => name.startsWith('amplify-dynamodb-simulator-') && name.endsWith('.tgz'));
  if (archive === undefined) throw new Error(`npm pack left no archive in ${CACHE}`);
  execFileSync('tar', ['-xzf', archive], { cwd: CACHE });
  rmSync(join(CACHE, archive));
  return JAR_FOLDER;
};

const waitFor = async (server: ChildProcess, endpoint: string): Promise<void> => {
  const until = Date.now() + START_MS;
  while (Date.now() < until && server.exitCode === null) {
    try {
      await fetch(endpoint, { signal: AbortSignal.timeout(1_000) });
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  throw new Error('DynamoDB Local did not come up');
};

/** One file after the other: this server is slow, and a test's patience is measured on the faster one. */
const runTests = (endpoint: string): Promise<number> =>
  new Promise((resolve) => {
    const names = process.argv.slice(2);
    // Every file once if none is named; a group has files that are also there by themselves.
    const projects = names.length === 0 ? ['integration'] : ['integration', 'groups'];
    const tests = spawn(
      process.execPath,
      [
        join(ROOT, 'node_modules/vitest/vitest.mjs'),
        'run',
        ...projects.map((project) => `--project=${project}`),
        '--maxWorkers=1',
        ...names,
      ],
      { cwd: ROOT, env: { ...process.env, DYNAMODB_ENDPOINT: endpoint }, stdio: 'inherit' },
    );
    tests.once('exit', (code) => {
      resolve(code ?? 1);
    });
  });

const run = async (): Promise<number> => {
  const java = findJava();
  if (java === undefined || java < OLDEST_JAVA) {
    console.log(
      `Skipped: DynamoDB Local needs Java ${OLDEST_JAVA} or later, and there is ${java === undefined ? 'none' : java}.`,
    );
    return 0;
  }
  const jar = provideJar();
  const folder = mkdtempSync(join(tmpdir(), 'mail-dispatch-dynamodb-'));
  const port = await reservePort({ variable: 'a free port', port: 0 });
  // In memory: on a file each write waits for the disk, 6 times as long; no test kills this server.
  const server = spawn('java', javaArguments(jar, port, ['-inMemory']), { cwd: folder, stdio: 'ignore' });
  const end = () => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  // The tests get the same Ctrl-C and end by themselves; the server must not outlive us.
  process.once('SIGINT', () => undefined);
  process.once('exit', end);
  await waitFor(server, `http://${HOST}:${port}`);
  return runTests(`http://${HOST}:${port}`);
};

run().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
