import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import * as z from 'zod';

/** Who asks, as a function sees it: every claim is text. */
export interface JwtIdentity {
  readonly claims: Readonly<Record<string, string>>;
  readonly scopes: readonly string[] | null;
}

/** May the request pass? */
export type Verdict =
  | { readonly kind: 'allowed'; readonly identity: JwtIdentity }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'forbidden' };

const Configuration = z.object({ jwks_uri: z.url() });

/** Lists become `[a b]`, as the gateway writes them. */
const toText = (claim: unknown): string => {
  if (Array.isArray(claim)) return `[${claim.map(toText).join(' ')}]`;
  return typeof claim === 'string' ? claim : JSON.stringify(claim);
};

const scopesOf = (payload: JWTPayload): string[] => {
  const scope = payload['scope'] ?? payload['scp'];
  if (Array.isArray(scope)) return scope.map(String);
  return typeof scope === 'string' ? scope.split(' ').filter((part) => part !== '') : [];
};

/** What tokens are checked against. */
export interface AuthorizerOptions {
  readonly issuer: string;
  /** Where the issuer's configuration is found. */
  readonly location: string;
  /** A token must be for one of them. */
  readonly audience: readonly string[];
}

/** The claim `client_id` counts only in a token that has no `aud`. */
const isFor = (audience: readonly string[], { aud, client_id: client }: JWTPayload): boolean =>
  [aud ?? client].flat().some((each) => typeof each === 'string' && audience.includes(each));

/** Checks tokens against the keys that the issuer publishes. */
export const createAuthorizer = ({ issuer, location, audience }: AuthorizerOptions) => {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;

  const loadKeys = async () => {
    const response = await fetch(`${location.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const { jwks_uri: address } = Configuration.parse(await response.json());
    return createRemoteJWKSet(new URL(address));
  };
  const verify = async (token: string): Promise<JWTPayload | undefined> => {
    try {
      // A failure is not kept: the issuer may be up a moment later.
      keys ??= loadKeys().catch((error: unknown) => {
        keys = undefined;
        throw error;
      });
      const { payload } = await jwtVerify(token, await keys, {
        issuer,
        algorithms: ['RS256', 'RS384', 'RS512'],
        requiredClaims: ['exp'],
      });
      return isFor(audience, payload) ? payload : undefined;
    } catch {
      return undefined;
    }
  };
  return async (header: string | undefined, wanted: readonly string[]): Promise<Verdict> => {
    const token = /^(?:Bearer\s+)?(\S+)$/i.exec(header?.trim() ?? '')?.[1];
    const payload = token === undefined ? undefined : await verify(token);
    if (payload === undefined) return { kind: 'unauthorized' };
    const scopes = scopesOf(payload);
    // Any one of the route's scopes is enough.
    if (wanted.length > 0 && !wanted.some((scope) => scopes.includes(scope))) return { kind: 'forbidden' };
    const claims = Object.fromEntries(Object.entries(payload).map(([name, claim]) => [name, toText(claim)]));
    return { kind: 'allowed', identity: { claims, scopes: wanted.length > 0 ? scopes : null } };
  };
};
