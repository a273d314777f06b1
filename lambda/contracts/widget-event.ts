import * as z from 'zod';

import { REQUEST_LIMITS } from '../domain/dispatch-request.ts';

/** What a field holds: a form gives text, a parameter or an action's JSON may give a number. */
const Given = z
  .union([z.string(), z.number()])
  .transform((value) => String(value))
  .nullish()
  .catch('?');

const Ids = z.object({ dispatchId: Given, applyId: Given });
type Ids = z.output<typeof Ids>;

const NO_IDS: Ids = { dispatchId: undefined, applyId: undefined };

/**
 * What CloudWatch invokes the function of a custom widget with: the widget's parameters, or the JSON of the action that
 * was clicked, and beside it what is in the forms.
 */
const WidgetEvent = Ids.extend({
  describe: z.unknown().optional(),
  /** `overview`: whatever is in the form. */
  show: z.literal('overview').optional().catch(undefined),
  widgetContext: z
    .object({
      theme: z.enum(['light', 'dark']).catch('light'),
      forms: z.object({ all: Ids.catch(NO_IDS) }).catch({ all: NO_IDS }),
      params: Ids.catch(NO_IDS),
    })
    .catch({ theme: 'light', forms: { all: NO_IDS }, params: NO_IDS }),
});

/** What is to be shown. */
export type WidgetWish =
  | { readonly show: 'documentation' }
  | { readonly show: 'overview' }
  | { readonly show: 'story'; readonly dispatchId: string; readonly applyIds: readonly string[] }
  /** Something else than an id, or a recipient without its dispatch. */
  | { readonly show: 'refusal'; readonly of: 'dispatchId' | 'applyId' | 'no-dispatchId' };

export type Theme = 'light' | 'dark';

/** Every id that was ever given out looks like this. */
const DISPATCH_ID = /^[a-z2-7]{52}$/;

const CONTROL = /[\p{Cc}\u2028\u2029]/u;

const isApplyId = (text: string): boolean =>
  Buffer.byteLength(text) <= REQUEST_LIMITS.idBytes && text.isWellFormed() && !CONTROL.test(text);

/** Reads such an event; what it does not understand of it counts as absent. */
export const parseWidgetEvent = (event: unknown): { readonly wish: WidgetWish; readonly theme: Theme } => {
  const parsed = WidgetEvent.safeParse(event);
  if (!parsed.success) return { wish: { show: 'overview' }, theme: 'light' };
  const { describe, show, widgetContext, ...own } = parsed.data;
  const { theme, forms, params } = widgetContext;
  if (describe === true || describe === 'true') return { wish: { show: 'documentation' }, theme };
  if (show === 'overview') return { wish: { show }, theme };
  // What was clicked, then what was typed, then what the widget was made with. Never a part of one with a part of another.
  return { wish: wishOf([own, forms.all, params].find(isFilled) ?? NO_IDS), theme };
};

const isBlank = (text: string | null | undefined): boolean => text === null || text === undefined || text.trim() === '';

const isFilled = ({ dispatchId, applyId }: Ids): boolean => !isBlank(dispatchId) || !isBlank(applyId);

const wishOf = (ids: Ids): WidgetWish => {
  if (!isFilled(ids)) return { show: 'overview' };
  if (isBlank(ids.dispatchId)) return { show: 'refusal', of: 'no-dispatchId' };
  const dispatchId = (ids.dispatchId ?? '').trim();
  if (!DISPATCH_ID.test(dispatchId)) return { show: 'refusal', of: 'dispatchId' };
  const applyId = ids.applyId ?? '';
  if (isBlank(applyId)) return { show: 'story', dispatchId, applyIds: [] };
  // Whoever pastes an id may have taken a space with it.
  const applyIds = [...new Set([applyId, applyId.trim()])].filter(isApplyId);
  return applyIds.length > 0 ? { show: 'story', dispatchId, applyIds } : { show: 'refusal', of: 'applyId' };
};
