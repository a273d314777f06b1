import * as z from 'zod';

import type { Dispatch } from '../../../domain/dispatch/dispatch.ts';
import { cursorOf } from '../cursor.ts';
import { CountsView, DeliveriesView, DispatchView, toDispatchView } from '../response/dispatch-view.ts';

const MOST_PER_PAGE = 100;
const USUAL_PER_PAGE = 20;

/** Names the last dispatch that was looked at: its time and its id. */
const AFTER = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#[a-z2-7]{52}$/;

const Place = z.object({ part: z.enum(['admin', 'open', 'attention']), after: z.string().regex(AFTER).exactOptional() });

/** The query parameters of a page of dispatches. */
export const DispatchesQuery = z
  .object({
    recruitId: z.string().min(1).max(128).exactOptional(),
    status: DispatchView.shape.status.exactOptional(),
    /** Test dispatches are left out, or shown alone. */
    test: z.enum(['true', 'false']).default('false'),
    /** For operators: another admin's. */
    admin: z.string().min(1).max(512).exactOptional(),
    /** For operators: all that are not finished, and then all that need attention. */
    open: z.literal('true').exactOptional(),
    cursor: cursorOf(Place).exactOptional(),
    limit: z.coerce.number().int().min(1).max(MOST_PER_PAGE).default(USUAL_PER_PAGE),
  })
  .refine(({ admin, open }) => admin === undefined || open === undefined, { path: ['admin'] })
  .refine(({ cursor, open }) => cursor === undefined || (cursor.part === 'admin') === (open === undefined), { path: ['cursor'] });

export type DispatchesQuery = z.output<typeof DispatchesQuery>;

export type ParsedDispatchesQuery =
  | { readonly ok: true; readonly query: DispatchesQuery }
  /** Names of the parameters that are not valid. */
  | { readonly ok: false; readonly names: readonly string[] };

/** Reads the query parameters of a page of dispatches. */
export const parseDispatchesQuery = (parameters: unknown): ParsedDispatchesQuery => {
  const parsed = DispatchesQuery.safeParse(parameters ?? {});
  if (parsed.success) return { ok: true, query: parsed.data };
  return { ok: false, names: [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))] };
};

/** A dispatch in a list: as it was counted some seconds ago, if it was. */
export const ListedDispatchView = DispatchView.extend({
  counts: CountsView.exactOptional(),
  deliveries: DeliveriesView.exactOptional(),
});

/** A page of dispatches. While there is a `next`, there is more to read, even after an empty page. */
export const DispatchesView = z.object({ dispatches: z.array(ListedDispatchView), next: z.string().nullable() });

export const toListedDispatchView = (dispatch: Dispatch): z.output<typeof ListedDispatchView> => ({
  ...toDispatchView(dispatch),
  ...(dispatch.counts !== undefined && { counts: { ...dispatch.counts } }),
  ...(dispatch.deliveries !== undefined && { deliveries: { ...dispatch.deliveries } }),
});
