import * as z from 'zod';

/** Who sent a request, by a token that the gateway has verified. */
export interface Caller {
  readonly adminId: string;
  /** Operators may look at any admin's dispatches. */
  readonly isOperator: boolean;
}

const OPERATE = 'mail:operate';

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

/** Reads who sent a request; undefined for a token without a subject, whose dispatches would be nobody's. */
export const parseCaller = (authorizer: unknown): Caller | undefined => {
  const parsed = Authorizer.safeParse(authorizer);
  if (!parsed.success) return undefined;
  const { sub, scope = '', scp = '' } = parsed.data.jwt.claims;
  const scopes = `${scope} ${scp}`.split(/[\s,[\]]+/);
  return { adminId: sub, isOperator: scopes.includes(OPERATE) };
};
