import { createServer, type Server } from 'node:http';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createAuthorizer } from '../../../../local/http-api/authorizer.ts';
import { listen } from '../../../../local/ports.ts';

const ISSUER = 'https://issuer.localhost/';
const SCOPES = ['mail:read', 'mail:operate'];

const keys = await generateKeyPair('RS256');
const strange = await generateKeyPair('RS256');
let server: Server;
let check: ReturnType<typeof createAuthorizer>;

const sign = (
  changes: {
    iss?: string;
    aud?: string | string[] | null;
    client?: string;
    exp?: string | number;
    nbf?: number;
    scope?: string;
  } = {},
  key = keys,
) => {
  const { iss = ISSUER, aud = 'mail-dispatch', client, exp = '5m', nbf, scope = 'mail:send mail:read' } = changes;
  const token = new SignJWT({
    scope,
    level: 3,
    groups: ['a', 'b'],
    ...(client !== undefined && { client_id: client }),
  }).setProtectedHeader({ alg: 'RS256', kid: 'k' });
  if (nbf !== undefined) token.setNotBefore(nbf);
  if (aud !== null) token.setAudience(aud);
  return token.setIssuer(iss).setSubject('admin-1').setExpirationTime(exp).sign(key.privateKey);
};

beforeAll(async () => {
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' };
  let location = '';
  server = createServer((request, response) => {
    const configuration = request.url === '/.well-known/openid-configuration';
    response.end(JSON.stringify(configuration ? { issuer: ISSUER, jwks_uri: `${location}/keys` } : { keys: [jwk] }));
  });
  location = `http://127.0.0.1:${await listen(server, { variable: 'none', port: 0 })}`;
  check = createAuthorizer({ issuer: ISSUER, location, audience: ['mail-dispatch'] });
});
afterAll(() => {
  server.close();
});

describe('a token', () => {
  it('passes with one of the scopes, and every claim reaches the function as text', async () => {
    expect(await check(`Bearer ${await sign()}`, SCOPES)).toMatchObject({
      kind: 'allowed',
      identity: {
        claims: { sub: 'admin-1', scope: 'mail:send mail:read', level: '3', groups: '[a b]' },
        scopes: ['mail:send', 'mail:read'],
      },
    });
  });

  it.each([
    ['one of several audiences', { aud: ['userinfo', 'mail-dispatch'] }],
    ['no audience, of a client that is one', { aud: null, client: 'mail-dispatch' }],
    ['the audience, of another client', { client: 'other' }],
  ])('for %s passes', async (_name, changes) => {
    expect(await check(`Bearer ${await sign(changes)}`, SCOPES)).toMatchObject({ kind: 'allowed' });
  });

  it('without any of the scopes is forbidden', async () => {
    expect(await check(`Bearer ${await sign({ scope: 'mail:send' })}`, SCOPES)).toEqual({ kind: 'forbidden' });
  });

  const past = Math.floor(Date.now() / 1000) - 60;
  it.each([
    ['of another issuer', { iss: 'https://other.localhost/' }],
    ['for another audience', { aud: 'other' }],
    ['for another audience, whatever its client', { aud: 'other', client: 'mail-dispatch' }],
    ['for no audience and another client', { aud: null, client: 'other' }],
    ['for no audience and no client', { aud: null }],
    ['that has expired', { exp: past }],
    ['that is not valid yet', { nbf: past + 3_600 }],
  ])('%s is refused', async (_, changes) => {
    expect(await check(`Bearer ${await sign(changes)}`, SCOPES)).toEqual({ kind: 'unauthorized' });
  });

  it('signed by a strange key is refused', async () => {
    expect(await check(`Bearer ${await sign({}, strange)}`, SCOPES)).toEqual({ kind: 'unauthorized' });
  });

  it.each([undefined, '', 'Bearer', 'Bearer x.y.z', 'Basic a b'])('such as %j is refused', async (header) => {
    expect(await check(header, SCOPES)).toEqual({ kind: 'unauthorized' });
  });
});
