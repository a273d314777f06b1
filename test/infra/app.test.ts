import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { GIVEN, ROOT } from './synthesized.ts';

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-app-'))));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const { context: written } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')) as { context: Record<string, unknown> };

/** CDK's own rules for templates, which take seconds to load: checked where the test is about the whole. */
const UNCHECKED = { CDK_VALIDATION: 'false' };

/** Runs the app as the CDK command line does, without bundling. */
const run = (context: Record<string, unknown>, environment: Record<string, string> = UNCHECKED) => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'bin/mail-dispatch.ts')], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify({ ...written, 'aws:cdk:bundling-stacks': [], ...context }),
      ...environment,
    },
  });
  return { status, stderr, template: () => readFileSync(join(directory, 'Dispatch.template.json'), 'utf8') };
};

describe('the app', () => {
  it('builds the stage that cdk.json names, as it is, by CDK’s own rules for templates', () => {
    const { status, stderr, template } = run({}, {});

    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(template()).toContain('https://issuer.example.com/');
  });

  it('builds stage prod by CDK’s own rules for templates', () => {
    const { status, stderr } = run({ stage: 'prod', ...GIVEN }, {});

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('refuses another stage that has no issuer', () => {
    const { status, stderr } = run({ stage: 'prod', fromAddress: 'a@b.example' });

    expect(status).not.toBe(0);
    expect(stderr).toContain("stage 'prod' cannot be built");
    expect(stderr).toContain('issuer is missing');
  });

  it('takes a setting of the command line before that of cdk.json', () => {
    expect(run({ leaseSeconds: '299' }).template()).toContain('"LEASE_SECONDS":"299"'.replaceAll('":"', '": "'));
  });

  it('takes settings from the environment in stage local', () => {
    expect(run({ stage: 'local' }, { ...UNCHECKED, LEASE_SECONDS: '18', MAX_CONCURRENCY: '' }).template()).toContain(
      '"LEASE_SECONDS": "18"',
    );
  });

  it('takes no settings from the environment in any other stage', () => {
    expect(run({}, { ...UNCHECKED, LEASE_SECONDS: '12' }).template()).toContain('"LEASE_SECONDS": "300"');
  });
});
