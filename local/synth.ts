import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

import { environmentName } from '../lib/setting.ts';
import { LOCAL, readStage } from '../lib/stages.ts';
import { isStack } from './lock.ts';
import { ROOT, type Settings } from './settings.ts';

/** Everything a synthesized assembly depends on. */
const SOURCES = ['bin', 'lib', 'lambda', 'cdk.json', 'package-lock.json'];
const KEPT = 8;

const CdkJson = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

const filesBelow = (path: string): string[] =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true, encoding: 'utf8' })
        .map((name) => join(path, name))
        .filter((file) => statSync(file).isFile())
        .toSorted();

/** The settings of the stage that the environment gives: those that the stage itself asks for. */
const stageEnvironment = (): Record<string, string> => {
  const given: Record<string, string> = {};
  try {
    readStage(LOCAL, (key) => {
      const value = process.env[environmentName(key)];
      if (value === undefined || value === '') return undefined;
      given[key] = value;
      return value;
    });
  } catch {
    // Told by the app itself, which also knows what cdk.json says.
  }
  return given;
};

const fingerprint = (): string => {
  const hash = createHash('sha256').update(JSON.stringify(stageEnvironment()));
  for (const source of SOURCES) {
    for (const file of filesBelow(join(ROOT, source))) hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 24);
};

const runApp = (directory: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const cdkJson: unknown = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
    // Paths of constructs give resources names that a person knows.
    const context = { ...CdkJson.parse(cdkJson).context, 'aws:cdk:enable-path-metadata': true, stage: LOCAL };
    const child = spawn(process.execPath, ['bin/mail-dispatch.ts'], {
      cwd: ROOT,
      env: {
        ...process.env,
        PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
        CDK_OUTDIR: directory,
        CDK_CONTEXT_JSON: JSON.stringify(context),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`The CDK app ended with ${signal ?? `exit code ${String(code)}`}:\n${said.trim()}`));
    });
  });

/** Assemblies of older code are of no use to anyone; the newest few stay, for other settings than these. */
const prune = (folder: string) => {
  const byAge = readdirSync(folder)
    .filter((name) => !name.endsWith('.lock'))
    .map((name) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  for (const { path } of byAge.slice(KEPT)) rmSync(path, { recursive: true, force: true });
};

/** Synthesizes aside and puts the result in place as a whole, so that a kill leaves nothing half made. */
const make = async (directory: string, settings: Settings): Promise<void> => {
  const aside = `${directory}-${randomUUID().slice(0, 8)}`;
  try {
    await runApp(aside);
    renameSync(aside, directory);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  prune(settings.assemblies);
  rmSync(settings.compileCache, { recursive: true, force: true });
};

/** One at a time: several stacks that start together want the same assembly. */
const takeTurn = async (lock: string): Promise<() => void> => {
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return () => {
        rmSync(lock, { force: true });
      };
    } catch {
      // Taken; a holder that was killed holds nothing.
      const holder = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : 0;
      if (holder > 0 && !isStack(holder)) rmSync(lock, { force: true });
      await new Promise((done) => setTimeout(done, 100));
    }
  }
};

/** The folder of the synthesized stage `local`: a kept one if neither code nor settings have changed. */
export const provideAssembly = async (settings: Settings): Promise<string> => {
  if (settings.assembly !== undefined) {
    if (existsSync(join(settings.assembly, 'manifest.json'))) return settings.assembly;
    throw new Error(`LOCAL_ASSEMBLY is ${settings.assembly}, but there is no manifest.json in it.`);
  }
  const directory = join(settings.assemblies, fingerprint());
  const now = new Date();
  if (existsSync(directory)) {
    utimesSync(directory, now, now);
    return directory;
  }
  mkdirSync(settings.assemblies, { recursive: true });
  const unlock = await takeTurn(`${directory}.lock`);
  try {
    // Whoever had the turn before us may have made it.
    if (!existsSync(directory)) await make(directory, settings);
  } finally {
    unlock();
  }
  return directory;
};
