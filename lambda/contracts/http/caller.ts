import * as z from 'zod';

/** Who sent a request, by a token that the gateway has verified. */
export interface Caller {
  readonly adminId: string;
  /** Operators may look at any admin's dispatches. */
  readonly isOperator: boolean;
}

const Authorizer = z.object({
  jwt: z.object({
    claims: z.object({
      sub: z.string().min(1),
      // A list reaches us as text in brackets.
      scope: z.string().optional(),
      scp: z.string().optional(),
    }),
  }),
});

/** Reads the admin of a token; undefined for one without a subject, whose dispatches would be nobody's. */
export const parseAdminId = (authorizer: unknown): string | undefined => Authorizer.safeParse(authorizer).data?.jwt.claims.sub;

/** Makes the reader of who sent a request; undefined as for {@link parseAdminId}. @param scopePrefix what the issuer puts before our scopes */
export const createCallerParser = (scopePrefix: string): ((authorizer: unknown) => Caller | undefined) => {
  const operate = `${scopePrefix}mail:operate`;
  return (authorizer) => {
    const parsed = Authorizer.safeParse(authorizer);
    if (!parsed.success) return undefined;
    const { sub, scope = '', scp = '' } = parsed.data.jwt.claims;
    const scopes = `${scope} ${scp}`.split(/[\s,[\]]+/);
    return { adminId: sub, isOperator: scopes.includes(operate) };
  };
};
