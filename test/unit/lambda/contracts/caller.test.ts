import { describe, expect, it } from 'vitest';

import { parseCaller } from '../../../../lambda/contracts/caller.ts';

const authorizer = (claims: object) => ({ jwt: { claims, scopes: null } });

describe('a caller', () => {
  it('is the subject of the token', () => {
    expect(parseCaller(authorizer({ sub: 'admin-1', scope: 'mail:send mail:read' }))).toEqual({
      adminId: 'admin-1',
      isOperator: false,
    });
  });

  it.each([
    ['a list', { scope: 'mail:read mail:operate' }],
    ['a list in brackets', { scope: '[mail:read mail:operate]' }],
    ['the claim scp', { scp: 'mail:operate' }],
  ])('is an operator by a scope in %s', (_name, claims) => {
    expect(parseCaller(authorizer({ sub: 'op', ...claims }))?.isOperator).toBe(true);
  });

  it.each([['mail:operate-not'], ['xmail:operate'], ['mail:read']])('is no operator by %s', (scope) => {
    expect(parseCaller(authorizer({ sub: 'op', scope }))?.isOperator).toBe(false);
  });

  it.each([
    ['has no subject', authorizer({ scope: 'mail:send' })],
    ['has an empty subject', authorizer({ sub: '' })],
    ['is missing', undefined],
  ])('is nobody when the token %s', (_name, value) => {
    expect(parseCaller(value)).toBeUndefined();
  });
});
