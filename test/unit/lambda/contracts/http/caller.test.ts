import { describe, expect, it } from 'vitest';

import { createCallerParser, parseAdminId } from '../../../../../lambda/contracts/http/caller.ts';

const parseCaller = createCallerParser('');

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
    ['mail-dispatch/mail:operate', true],
    ['openid mail-dispatch/mail:read mail-dispatch/mail:operate', true],
    ['mail:operate', false],
    ['other/mail:operate', false],
    ['mail-dispatch/mail:operate-not', false],
    ['x-mail-dispatch/mail:operate', false],
  ])('of an issuer with a prefix has scope %j: operator is %j', (scope, isOperator) => {
    expect(createCallerParser('mail-dispatch/')(authorizer({ sub: 'op', scope }))).toEqual({ adminId: 'op', isOperator });
  });

  it('is the same admin whatever the scopes', () => {
    expect(parseAdminId(authorizer({ sub: 'admin-1' }))).toBe('admin-1');
  });

  it.each([
    ['has no subject', authorizer({ scope: 'mail:send' })],
    ['has an empty subject', authorizer({ sub: '' })],
    ['is missing', undefined],
  ])('is nobody when the token %s', (_name, value) => {
    expect(parseCaller(value)).toBeUndefined();
    expect(parseAdminId(value)).toBeUndefined();
  });
});
