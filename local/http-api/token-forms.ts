/** Issuers whose access tokens the local issuer can imitate. */
export const TOKEN_FORMS = ['plain', 'auth0', 'cognito', 'entra', 'okta'] as const;

export type TokenForm = (typeof TOKEN_FORMS)[number];

/** What a token is about. */
export interface TokenFacts {
  readonly subject: string;
  /** With what the issuer puts before them. */
  readonly scopes: readonly string[];
  readonly audience: string;
}

/** The claims of an access token beside `iss`, `iat` and `exp`, by the manuals of the issuers. */
export const claimsOf: Readonly<Record<TokenForm, (facts: TokenFacts) => Record<string, unknown>>> = {
  plain: ({ subject, scopes, audience }) => ({ sub: subject, aud: audience, scope: scopes.join(' ') }),
  auth0: ({ subject, scopes, audience }) => ({
    sub: subject,
    aud: [audience, 'https://tenant.auth0.localhost/userinfo'],
    azp: 'client-1',
    scope: ['openid', 'profile', ...scopes].join(' '),
    permissions: scopes,
  }),
  cognito: ({ subject, scopes, audience }) => ({
    sub: subject,
    client_id: audience,
    token_use: 'access',
    scope: scopes.join(' '),
    username: subject,
    version: 2,
  }),
  entra: ({ subject, scopes, audience }) => ({
    sub: subject,
    aud: audience,
    azp: 'client-1',
    oid: `oid-of-${subject}`,
    scp: scopes.join(' '),
    ver: '2.0',
  }),
  okta: ({ subject, scopes, audience }) => ({
    sub: subject,
    aud: audience,
    cid: 'client-1',
    uid: `uid-of-${subject}`,
    scp: scopes,
    ver: 1,
  }),
};
