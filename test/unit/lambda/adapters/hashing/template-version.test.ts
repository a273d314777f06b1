import { expect, it } from 'vitest';

import { templateVersionOf } from '../../../../../lambda/adapters/hashing/template-version.ts';

it('names a template by its content', () => {
  const version = templateVersionOf({ subject: 'Hello', html: '<p>Hi</p>', text: 'Hi' });

  expect(version).toMatch(/^[\w-]{22}$/);
  expect(templateVersionOf({ text: 'Hi', html: '<p>Hi</p>', subject: 'Hello' })).toBe(version);
});

it('differs where anything of it differs', () => {
  const versions = [
    { subject: 'Hello' },
    { subject: 'Hello', html: 'Hi' },
    { subject: 'Hello', text: 'Hi' },
    { subject: 'Hello', text: 'Hi', html: 'Hi' },
    { subject: 'Hello ', text: 'Hi' },
    { subject: '', text: 'Hello' },
  ].map(templateVersionOf);

  expect(new Set(versions).size).toBe(versions.length);
});
