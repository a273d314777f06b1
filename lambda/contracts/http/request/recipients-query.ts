import * as z from 'zod';

import { RECIPIENT_STATUSES, type RecipientStatus } from '../../../domain/recipient/recipient.ts';
import { cursorOf, encodeCursor } from '../cursor.ts';

const MOST_PER_PAGE = 1_000;
const USUAL_PER_PAGE = 100;

/** A place among the recipients of a dispatch: after that one, or at the beginning of the shard. */
export interface RecipientPlace {
  readonly shard: number;
  readonly after?: string;
}

const Place = z.object({ shard: z.int().min(0).max(63), after: z.string().min(1).max(512).exactOptional() });

/** A place as clients see it. */
export const toCursor = (place: RecipientPlace): string => encodeCursor(place);

/** The query parameters of a page of recipients. */
export const RecipientsQuery = z.object({
  status: z.enum(RECIPIENT_STATUSES).exactOptional(),
  cursor: cursorOf(Place).default({ shard: 0 }),
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
