import * as z from 'zod';

const Claims = z.looseObject({
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  /** Amazon Cognito's access tokens have it in place of `aud`. */
  client_id: z.string().optional(),
  sub: z.string().optional(),
  exp: z.number().optional(),
  scope: z.string().optional(),
});

/** What a token says of itself; nothing here checks its signature. */
export type Claims = z.output<typeof Claims>;

/** Reads a token's claims; undefined if it is no JWT. */
export const readClaims = (token: string): Claims | undefined => {
  try {
    const [, payload = ''] = token.split('.');
    const content: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return Claims.safeParse(content).data;
  } catch {
    return undefined;
  }
};

/** Minutes until a token expires, rounded down; Infinity if it does not say. @param now milliseconds */
export const minutesLeft = ({ exp }: Pick<Claims, 'exp'>, now: number): number =>
  exp === undefined ? Infinity : Math.floor((exp * 1000 - now) / 60_000);

/** Why an API refuses a token as far as the token itself shows it, one sentence each. @param now milliseconds */
export const faultsOfToken = (
  token: string,
  expected: { readonly issuer?: string; readonly audience?: readonly string[] },
  now: number,
): string[] => {
  const claims = readClaims(token);
  if (claims === undefined) return ['The token is not a JWT.'];
  const audiences = [claims.aud ?? claims.client_id ?? []].flat();
  const { issuer, audience } = expected;
  return [
    issuer !== undefined &&
      claims.iss !== issuer &&
      `Its iss is ${claims.iss ?? 'missing'}, but the stage's issuer is ${issuer}.`,
    audience !== undefined &&
      !audiences.some((each) => audience.includes(each)) &&
      `Its aud is ${audiences.join(', ') || 'missing'}, but the stage's audience is ${audience.join(', ')}.`,
    minutesLeft(claims, now) < 0 && 'It has expired.',
  ].filter((fault) => fault !== false);
};
