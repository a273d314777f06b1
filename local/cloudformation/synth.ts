import { createHash, type Hash, randomUUID } from 'node:crypto';
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

import { environmentName } from '../../lib/config/setting.ts';
import { LOCAL, readStage } from '../../lib/config/stages.ts';
import { isAlive } from '../cli/lock.ts';
import { ROOT, type Settings } from '../settings.ts';
import { reuseBundles } from './reuse-bundles.ts';
import { runApp } from './synth-app.ts';

/** Everything a synthesized assembly depends on besides the settings. */
const SOURCES = ['bin', 'lib', 'lambda', 'cdk.json', 'package-lock.json'];
/** Of so many states of the sources assemblies are kept. */
const KEPT = 8;
/** A machine on which synthesizing takes longer is of no use. */
const MOST_MS = 180_000;

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

const short = (hash: Hash): string => hash.digest('hex').slice(0, 24);

const sourcesFingerprint = (): string => {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    for (const file of filesBelow(join(ROOT, source))) hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  }
  return short(hash);
};

const settingsFingerprint = (): string => short(createHash('sha256').update(JSON.stringify(stageEnvironment())));

/** Assemblies of older code are of no use to anyone. */
const prune = (assemblies: string) => {
  const byAge = readdirSync(assemblies)
    .filter((name) => !name.endsWith('.lock'))
    .map((name) => ({ path: join(assemblies, name), at: statSync(join(assemblies, name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  for (const { path } of byAge.slice(KEPT)) rmSync(path, { recursive: true, force: true });
};

const WHOLE = /^[0-9a-f]{24}$/;

/** Synthesizes aside and puts the result in place as a whole, so that a kill leaves nothing half made. */
const make = async (group: string, name: string, settings: Settings): Promise<void> => {
  const [lender] = readdirSync(group).filter((each) => WHOLE.test(each));
  const aside = join(group, `${name}-${randomUUID().slice(0, 8)}`);
  try {
    await runApp(aside, { bundles: lender === undefined });
    if (lender !== undefined) reuseBundles(aside, join(group, lender));
    renameSync(aside, join(group, name));
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  prune(settings.assemblies);
  if (lender === undefined) rmSync(settings.compileCache, { recursive: true, force: true });
};

/** It may go away while we look. */
const readLock = (lock: string): { readonly pid: number; readonly ageMs: number } => {
  try {
    return { pid: Number(readFileSync(lock, 'utf8')), ageMs: Date.now() - statSync(lock).mtimeMs };
  } catch {
    return { pid: 0, ageMs: 0 };
  }
};

/** One at a time: several stacks that start together want the same code. */
const takeTurn = async (lock: string): Promise<() => void> => {
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return () => {
        rmSync(lock, { force: true });
      };
    } catch {
      // Taken; a holder that was killed holds nothing, and nobody needs it for so long.
      const { pid, ageMs } = readLock(lock);
      if ((pid > 0 && !isAlive(pid)) || ageMs > MOST_MS) rmSync(lock, { force: true });
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
  const group = join(settings.assemblies, sourcesFingerprint());
  const name = settingsFingerprint();
  const directory = join(group, name);
  const now = new Date();
  mkdirSync(group, { recursive: true });
  utimesSync(group, now, now);
  if (existsSync(directory)) return directory;
  const unlock = await takeTurn(`${group}.lock`);
  try {
    // Whoever had the turn before us may have made it.
    if (!existsSync(directory)) await make(group, name, settings);
  } finally {
    unlock();
  }
  return directory;
};
