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
