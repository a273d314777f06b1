import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { buildSync } from 'esbuild';

const FOLDER = join(import.meta.dirname, 'browser');

let script: string | undefined;

/** The page's own script, as a browser runs it; made when it is first asked for. */
export const opsScript = (): string => {
  script ??= buildSync({
    entryPoints: [join(FOLDER, 'page.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  }).outputFiles[0]?.text;
  return script ?? '';
};

export const opsStyle = (): string => readFileSync(join(FOLDER, 'page.css'), 'utf8');
