import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { startQueues } from '../../../../local/emulators/queues.ts';
import { removeTornObjects } from '../../../../local/emulators/torn-objects.ts';
import { openRecordedOutput } from '../../../../local/recorded-output.ts';
import { readSettings } from '../../../../local/settings.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-objects-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const start = async () => {
  const settings = readSettings({ LOCAL_DIR: directory, LOCAL_SQS_PORT: '0' });
  const server = await startQueues(settings, openRecordedOutput(settings));
  // The SDK's client is replaced by a stub in other tests of this process.
  const call = (method: string, path: string, body?: string) =>
    fetch(`${server.endpoint}/lists${path}`, { method, ...(body !== undefined && { body }) });
  await call('PUT', '');
  return { server, call };
};

it('objects are there after a restart, and one that a kill left half-written is gone', async () => {
  const first = await start();
  expect((await first.call('PUT', '/t/d/whole', 'whole')).status).toBe(200);
  await first.server.stop();
  writeFileSync(join(directory, 'objects/buckets/lists/objects/t/d/torn.data'), 'to');
  writeFileSync(join(directory, 'objects/buckets/lists/objects/t/d/torn.meta.json'), '');

  const second = await start();

  expect(await (await second.call('GET', '/t/d/whole')).text()).toBe('whole');
  expect((await second.call('GET', '/t/d/torn')).status).toBe(404);
  await second.server.stop();
});

it('only descriptions that are cut are removed, with their data', () => {
  mkdirSync(join(directory, 'a'));
  writeFileSync(join(directory, 'a/x.meta.json'), '{"key"');
  writeFileSync(join(directory, 'a/x.data'), '');
  writeFileSync(join(directory, 'a/y.meta.json'), '{}');
  writeFileSync(join(directory, 'a/y.data'), '');

  expect(removeTornObjects(directory)).toBe(1);
  expect(['x.meta.json', 'x.data', 'y.meta.json', 'y.data'].map((name) => existsSync(join(directory, 'a', name)))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(removeTornObjects(join(directory, 'nowhere'))).toBe(0);
});
