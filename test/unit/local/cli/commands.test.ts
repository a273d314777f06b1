import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { describeStack } from '../../../../local/cli/commands.ts';
import { ROOT } from '../../../../local/settings.ts';
import { StackFile } from '../../../../local/stack-file.ts';

const stack = StackFile.parse({
  ...Object.fromEntries(
    Object.entries(StackFile.shape).map(([name, type]) => [
      name,
      type.safeParse('text').success ? 'text' : `http://${name}.test`,
    ]),
  ),
  scenarios: [],
  tokens: { admin: 'token-of-admin', secondAdmin: 'token-of-second', operator: 'token-of-operator' },
});

it('prints the addresses and both tokens as assignments to paste', () => {
  const lines = describeStack(stack, join(ROOT, '.local'))
    .split('\n')
    .map((line) => line.trim());

  expect(lines).toEqual(expect.arrayContaining(['TOKEN=token-of-admin', 'OPERATOR_TOKEN=token-of-operator']));
  expect(lines.find((line) => line.startsWith('API'))).toContain(stack.api);
  expect(lines.find((line) => line.startsWith('Inbox'))).toContain(stack.inbox);
});

it('prints the commands that the README shows for the first dispatch', () => {
  const printed = describeStack({ ...stack, api: 'http://127.0.0.1:3000' }, join(ROOT, '.local'));
  const shown = readFileSync(join(ROOT, 'README.md'), 'utf8').match(/^(ANSWER|ID)=[^]*?(?=^```)/gm) ?? [];

  expect(shown.length).toBe(2);
  for (const command of shown.flatMap((block) => block.trim().split('\n'))) expect(printed).toContain(command.trim());
});
