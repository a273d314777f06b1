import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import * as z from 'zod';

import { HOST, listen } from '../ports.ts';
import type { Settings } from '../settings.ts';
import { claimsOf, type TokenFacts } from './token-forms.ts';

const LIFETIME = '12h';

const Stored = z.record(z.string(), z.string());

/** The key pair is kept, so that tokens of the last run are still good. */
const loadKey = async (file: string): Promise<JWK> => {
  if (existsSync(file)) {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Stored.parse(stored);
  }
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const key = { ...jwk, alg: 'RS256', use: 'sig', kid: await calculateJwkThumbprint(jwk) };
  writeFileSync(file, JSON.stringify(key), { mode: 0o600 });
  return key;
};

const isLocal = (issuer: string): boolean => /^(127\.0\.0\.1|localhost|.+\.localhost)$/.test(new URL(issuer).hostname);

/**
 * Starts an OpenID issuer with real RSA keys; only the person at this machine gets tokens from it.
 * It speaks for every issuer named `*.localhost`, as if that name led here: a template must name an https address.
 */
export const startIssuer = async (settings: Pick<Settings, 'directory' | 'ports' | 'tokenForm'>) => {
  const key = await loadKey(join(settings.directory, 'issuer-key.json'));
  const { kty, n, e, kid, alg, use } = key;
  const server = createServer((request, response) => {
    const pages: Readonly<Record<string, object>> = {
      '/.well-known/openid-configuration': { issuer: address, jwks_uri: `${address}/.well-known/jwks.json` },
      '/.well-known/jwks.json': { keys: [{ kty, n, e, kid, alg, use }] },
    };
    const page = pages[request.url ?? ''];
    response.writeHead(page ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(page ?? { message: 'Not Found' }));
  });
  const address = `http://${HOST}:${await listen(server, settings.ports.issuer)}`;
  const privateKey = await importJWK(key, 'RS256');

  return {
    address,
    /** Where the configuration of an issuer is really found. */
    locate: (issuer: string): string => (isLocal(issuer) ? address : issuer),
    /** Signs a token that the API's authorizer accepts, in the form of the setting. */
    sign: (facts: TokenFacts, iss: string) =>
      new SignJWT(claimsOf[settings.tokenForm](facts))
        .setProtectedHeader({ alg: 'RS256', ...(kid !== undefined && { kid }) })
        .setIssuer(iss)
        .setIssuedAt()
        .setExpirationTime(LIFETIME)
        .sign(privateKey),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
