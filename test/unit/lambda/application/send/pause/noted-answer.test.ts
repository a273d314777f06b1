import { expect, it } from 'vitest';

import { wasAsked } from '../../../../../../lambda/application/send/pause/noted-answer.ts';

it.each([
  ['no-time', false],
  ['not-allowed', false],
  ['unrenderable', false],
  ['used-up', false],
  ['permanent', true],
  ['account', true],
  ['refused-alone', true],
] as const)('an attempt that ended %s says something about the account: %s', (kind, says) => {
  expect(wasAsked({ kind, code: 'CODE' })).toBe(says);
});
