import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

const bin = mkdtempSync(join(tmpdir(), 'ci-run-'));
const browser = join(bin, 'chromium');
for (const name of ['npm', 'chromium']) {
  writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*"\ncase "$*" in "$FAILS") exit 1;; esac\n`);
  chmodSync(join(bin, name), 0o755);
}
afterAll(() => {
  rmSync(bin, { recursive: true });
});

/** Runs it with an npm that only says what it was asked, and fails at what FAILS names. */
const run = (environment: Record<string, string>) => {
  const env = { PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`, ...environment };
  const { status, stdout, stderr } = spawnSync('bash', [resolve(import.meta.dirname, '../../.ci/run')], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

describe('the check of a change', () => {
  it('goes on to the tests when there is a browser', () => {
    expect(run({ CHROMIUM_PATH: browser })).toMatchObject({ status: 0, stdout: expect.stringContaining('npm test') as unknown });
  });

  it.each(['run lint', 'run typecheck'])('prints what both checks say, and ends before the tests if one fails: %s', (failing) => {
    const { status, stdout } = run({ CHROMIUM_PATH: browser, FAILS: failing });

    expect(status).toBe(1);
    expect(stdout).toMatch(/npm run lint\nnpm run typecheck\n/);
    expect(stdout).not.toContain('npm test');
  });

  it('says at the beginning and at the end that there is none, and goes on', () => {
    const { status, stdout, stderr } = run({ CHROMIUM_PATH: join(bin, 'nowhere') });

    expect(status).toBe(0);
    expect(stdout).toContain('npm test');
    expect(stderr.match(/There is no Chromium at .*nowhere, so the pages are not tested/g)).toHaveLength(2);
  });
});
