import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';
import * as z from 'zod';

import { parseJavaVersion } from '../../../../local/emulators/dynamodb-local.ts';
import { DYNOXIDE_VERSION, findDynamoDb, type Machine } from '../../../../local/emulators/find-dynamodb.ts';

/** A machine that has the given files and nothing else. */
const machine = (platform: string, arch: string, files: readonly string[] = [], more: Partial<Machine> = {}): Machine => ({
  platform,
  arch,
  endpoint: undefined,
  searchPath: platform === 'win32' ? String.raw`C:\tools;C:\bin` : '/usr/bin::/opt/bin',
  nodeModules: platform === 'win32' ? String.raw`C:\app\node_modules` : '/app/node_modules',
  jarFolder: platform === 'win32' ? String.raw`C:\cache` : '/cache',
  exists: (file) => files.includes(file),
  javaVersion: () => undefined,
  ...more,
});

const PACKAGED = '/app/node_modules/@dynoxide/darwin-arm64/dynoxide';
const ON_PATH = '/opt/bin/dynoxide';
const JAR = '/cache/DynamoDBLocal.jar';
const java17 = { javaVersion: () => 17 };

describe('the DynamoDB server of the local stack', () => {
  it('is the one of DYNAMODB_ENDPOINT, whatever else is there', () => {
    const found = findDynamoDb(
      machine('darwin', 'arm64', [PACKAGED, ON_PATH, JAR], { ...java17, endpoint: 'http://127.0.0.1:8000/' }),
    );

    expect(found).toEqual({ type: 'endpoint', endpoint: 'http://127.0.0.1:8000' });
  });

  it.each([
    ['linux', 'x64', '/app/node_modules/@dynoxide/linux-x64/dynoxide'],
    ['linux', 'arm64', '/app/node_modules/@dynoxide/linux-arm64/dynoxide'],
    ['darwin', 'x64', '/app/node_modules/@dynoxide/darwin-x64/dynoxide'],
    ['darwin', 'arm64', PACKAGED],
    ['win32', 'x64', String.raw`C:\app\node_modules\@dynoxide\win32-x64\dynoxide.exe`],
  ])('is the package of the platform on %s %s', (platform, arch, binary) => {
    expect(findDynamoDb(machine(platform, arch, [binary, ON_PATH, JAR], java17))).toEqual({ type: 'dynoxide', binary });
  });

  it('is not the package of another platform', () => {
    const found = findDynamoDb(machine('darwin', 'arm64', ['/app/node_modules/@dynoxide/linux-x64/dynoxide']));

    expect(found.type).toBe('none');
  });

  it.each([
    ['darwin', 'arm64', ON_PATH],
    ['freebsd', 'x64', ON_PATH],
    ['win32', 'arm64', String.raw`C:\bin\dynoxide.exe`],
  ])('is dynoxide on the PATH where there is no package, on %s %s', (platform, arch, binary) => {
    expect(findDynamoDb(machine(platform, arch, [binary, JAR], java17))).toEqual({ type: 'dynoxide', binary });
  });

  it('is DynamoDB Local where there is no dynoxide, but a jar and Java', () => {
    expect(findDynamoDb(machine('darwin', 'arm64', [JAR], java17))).toEqual({ type: 'dynamodb-local', jarFolder: '/cache' });
  });

  it.each([
    ['an old Java', [JAR], 8],
    ['no Java', [JAR], undefined],
    ['no jar', [], 17],
  ])('is not DynamoDB Local with %s', (_, files, version) => {
    expect(findDynamoDb(machine('darwin', 'arm64', files, { javaVersion: () => version })).type).toBe('none');
  });

  it.each([
    ['darwin', 'arm64'],
    ['darwin', 'x64'],
    ['linux', 'arm64'],
    ['linux', 'x64'],
    ['win32', 'x64'],
  ])('is installed by one command on %s %s', (platform, arch) => {
    expect(findDynamoDb(machine(platform, arch))).toEqual({
      type: 'none',
      advice: expect.stringContaining(`\n  npm install --no-save @dynoxide/${platform}-${arch}@${DYNOXIDE_VERSION}\n`) as unknown,
    });
  });

  it.each([
    ['win32', 'arm64'],
    ['freebsd', 'x64'],
  ])('is a container on %s %s, where dynoxide is not published', (platform, arch) => {
    const found = findDynamoDb(machine(platform, arch));

    expect(found).toMatchObject({ advice: expect.stringContaining('amazon/dynamodb-local') as unknown });
    expect(found).toMatchObject({ advice: expect.not.stringContaining('npm install') as unknown });
  });

  it('has the same version whether npm installs it or a person does', () => {
    const content: unknown = JSON.parse(readFileSync(join(resolve(import.meta.dirname, '../../../..'), 'package.json'), 'utf8'));
    const { optionalDependencies } = z.object({ optionalDependencies: z.record(z.string(), z.string()) }).parse(content);

    expect(optionalDependencies['@dynoxide/linux-x64']).toBe(DYNOXIDE_VERSION);
  });
});

it.each([
  ['openjdk version "17.0.16" 2025-07-15', 17],
  ['java version "1.8.0_391"', 8],
  ['openjdk version "21" 2023-09-19', 21],
  ['command not found', undefined],
])('reads the Java version from %s', (output, version) => {
  expect(parseJavaVersion(output)).toBe(version);
});
