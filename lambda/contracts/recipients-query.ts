import * as z from 'zod';

import { RECIPIENT_STATUSES, type RecipientStatus } from '../domain/recipient.ts';

const MOST_PER_PAGE = 1_000;
const USUAL_PER_PAGE = 100;

/** A place among the recipients of a dispatch: after that one, or at the beginning of the shard. */
export interface RecipientPlace {
  readonly shard: number;
  readonly after?: string;
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const Place = z.object({ shard: z.int().min(0).max(63), after: z.string().min(1).max(512).exactOptional() });

/** A cursor is for us alone: clients hand it back as they got it. */
export const toCursor = (place: RecipientPlace): string => Buffer.from(JSON.stringify(place)).toString('base64url');

const Cursor = z
  .string()
  .max(1_024)
  .transform((text) => parseJson(Buffer.from(text, 'base64url').toString('utf8')))
  .pipe(Place);

/** The query parameters of a page of recipients. */
export const RecipientsQuery = z.object({
  status: z.enum(RECIPIENT_STATUSES).exactOptional(),
  cursor: Cursor.default({ shard: 0 }),
  limit: z.coerce.number().int().min(1).max(MOST_PER_PAGE).default(USUAL_PER_PAGE),
});

export type ParsedQuery =
  | {
      readonly ok: true;
      readonly query: { readonly status?: RecipientStatus; readonly from: RecipientPlace; readonly limit: number };
    }
  /** Names of the parameters that are not valid. */
  | { readonly ok: false; readonly names: readonly string[] };

/** Reads the query parameters of a page of recipients. */
export const parseRecipientsQuery = (parameters: unknown): ParsedQuery => {
  const parsed = RecipientsQuery.safeParse(parameters ?? {});
  if (!parsed.success) return { ok: false, names: [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))] };
  const { status, cursor, limit } = parsed.data;
  return { ok: true, query: { from: cursor, limit, ...(status !== undefined && { status }) } };
};
