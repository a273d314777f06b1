import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

import { LOCAL } from '../../lib/config/stages.ts';
import { ROOT } from '../settings.ts';

const CdkJson = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

/** Synthesizes the stage `local` into a folder, with the code of its functions or without. */
export const runApp = (directory: string, { bundles }: { readonly bundles: boolean }): Promise<void> =>
  new Promise((resolve, reject) => {
    const cdkJson: unknown = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
    const context = {
      ...CdkJson.parse(cdkJson).context,
      // Paths of constructs give resources names that a person knows.
      'aws:cdk:enable-path-metadata': true,
      ...(!bundles && { 'aws:cdk:bundling-stacks': [] }),
      stage: LOCAL,
    };
    const child = spawn(process.execPath, ['bin/mail-dispatch.ts'], {
      cwd: ROOT,
      env: {
        ...process.env,
        PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
        CDK_OUTDIR: directory,
        CDK_CONTEXT_JSON: JSON.stringify(context),
        // Seconds of work for rules about a deployment, and nothing is deployed from here.
        CDK_VALIDATION: 'false',
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
