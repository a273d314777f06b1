import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { decodeJwt } from 'jose';
import { afterAll, afterEach, describe, expect, it } from 'vitest';

import { createCallerParser } from '../../lambda/contracts/http/caller.ts';
import { createAuthorizer } from '../../local/http-api/authorizer.ts';
import { startIssuer } from '../../local/http-api/issuer.ts';
import { TOKEN_FORMS, type TokenForm } from '../../local/http-api/token-forms.ts';
import { readSettings } from '../../local/settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-issuer-'));
let issuer: Awaited<ReturnType<typeof startIssuer>> | undefined;

afterEach(() => {
  issuer?.stop();
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Text of the claim `iss` of each, and the prefix that its scopes have. */
const ISSUERS: Readonly<Record<TokenForm, { readonly iss: string; readonly scopePrefix: string }>> = {
  plain: { iss: 'https://issuer.localhost/', scopePrefix: '' },
  auth0: { iss: 'https://tenant.eu.auth0.localhost/', scopePrefix: '' },
  cognito: { iss: 'https://cognito-idp.eu-west-1.localhost/eu-west-1_abc', scopePrefix: 'mail-dispatch/' },
  entra: { iss: 'https://login.localhost/0000-1111/v2.0', scopePrefix: '' },
  okta: { iss: 'https://dev-1.okta.localhost/oauth2/default', scopePrefix: '' },
};

const open = async (form: TokenForm, scopes: readonly string[], forAudience = 'mail-dispatch') => {
  const { iss, scopePrefix } = ISSUERS[form];
  issuer = await startIssuer(readSettings({ LOCAL_DIR: directory, LOCAL_ISSUER_PORT: '0', LOCAL_TOKEN_FORM: form }));
  const token = await issuer.sign(
    { subject: 'person-1', scopes: scopes.map((scope) => `${scopePrefix}${scope}`), audience: forAudience },
    iss,
  );
  const authorizerOf = (expected: string) =>
    createAuthorizer({ issuer: expected, location: issuer?.locate(expected) ?? '', audience: ['other', 'mail-dispatch'] });
  const ask = (wanted: readonly string[], expected = iss) =>
    authorizerOf(expected)(
      `Bearer ${token}`,
      wanted.map((scope) => `${scopePrefix}${scope}`),
    );
  return { token, ask, parseCaller: createCallerParser(scopePrefix), withoutPrefix: createCallerParser('') };
};

describe.each(TOKEN_FORMS)('an access token in the form of %s (A7)', (form) => {
  it('passes with a scope of the route, and the function sees admin and operator', async () => {
    const { ask, parseCaller } = await open(form, ['mail:read', 'mail:operate']);

    const verdict = await ask(['mail:read', 'mail:operate']);

    if (verdict.kind !== 'allowed') throw new Error(verdict.kind);
    expect(parseCaller({ jwt: verdict.identity })).toEqual({ adminId: 'person-1', isOperator: true });
  });

  it('of an admin is no operator’s, and does not open a route for operators', async () => {
    const { ask, parseCaller } = await open(form, ['mail:send', 'mail:read']);

    const verdict = await ask(['mail:send']);

    if (verdict.kind !== 'allowed') throw new Error(verdict.kind);
    expect(parseCaller({ jwt: verdict.identity })).toEqual({ adminId: 'person-1', isOperator: false });
    expect(await ask(['mail:operate'])).toEqual({ kind: 'forbidden' });
  });

  it('for another audience is refused', async () => {
    const { ask } = await open(form, ['mail:send'], 'somebody-else');

    expect(await ask(['mail:send'])).toEqual({ kind: 'unauthorized' });
  });

  it('is refused when the issuer of the setting differs by a slash', async () => {
    const { ask } = await open(form, ['mail:send']);
    const { iss } = ISSUERS[form];

    expect(await ask(['mail:send'], iss.endsWith('/') ? iss.slice(0, -1) : `${iss}/`)).toEqual({ kind: 'unauthorized' });
  });
});

it('Cognito’s token has no audience but a client, and scopes with the name of their resource server', async () => {
  const { token, ask, withoutPrefix } = await open('cognito', ['mail:operate']);

  expect(decodeJwt(token)).toMatchObject({ client_id: 'mail-dispatch', scope: 'mail-dispatch/mail:operate' });
  expect(decodeJwt(token)).not.toHaveProperty('aud');
  const verdict = await ask(['mail:operate']);
  if (verdict.kind !== 'allowed') throw new Error(verdict.kind);
  // A scope of the same name of another resource server must not make an operator.
  expect(withoutPrefix({ jwt: verdict.identity })).toEqual({ adminId: 'person-1', isOperator: false });
});

it('Entra’s and Okta’s tokens have scopes in scp, Entra’s as text and Okta’s as a list', async () => {
  expect(decodeJwt((await open('entra', ['mail:send', 'mail:read'])).token)).toMatchObject({ scp: 'mail:send mail:read' });
  issuer?.stop();
  expect(decodeJwt((await open('okta', ['mail:send', 'mail:read'])).token)).toMatchObject({ scp: ['mail:send', 'mail:read'] });
});
