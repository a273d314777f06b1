import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { findRunningStack } from '../../../../local/redrive/running-stack.ts';

it('a repair without a running stack says where it looked and what to do', () => {
  const LOCAL_DIR = mkdtempSync(join(tmpdir(), 'no-stack-'));

  expect(() => findRunningStack({ LOCAL_DIR })).toThrow(`No local stack runs in ${LOCAL_DIR}. Start one with npm start`);
});

it('the file that a killed stack left is not taken for a running one', () => {
  const LOCAL_DIR = mkdtempSync(join(tmpdir(), 'killed-stack-'));
  writeFileSync(join(LOCAL_DIR, 'stack.json'), '{}');
  // A process that is there, and is no stack.
  writeFileSync(join(LOCAL_DIR, 'pid'), '1');

  expect(() => findRunningStack({ LOCAL_DIR })).toThrow('No local stack runs');
});
