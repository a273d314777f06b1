import * as z from 'zod';

import { REQUEST_LIMITS } from '../../domain/dispatch/dispatch-request.ts';

/** What a field holds: a form gives text, a parameter or an action's JSON may give a number. */
const Given = z
  .union([z.string(), z.number()])
  .transform((value) => String(value))
  .nullish()
  .catch('?');

const Ids = z.object({ dispatchId: Given, applyId: Given });
type Ids = z.output<typeof Ids>;

const NO_IDS: Ids = { dispatchId: undefined, applyId: undefined };

/** What is typed, and what the page shows that the form is part of: `overview`, or the ids of a story with a space between. */
const Form = Ids.extend({ shown: z.string().optional().catch(undefined) });

const EMPTY = { theme: 'light', forms: { all: { ...NO_IDS, shown: undefined } }, params: NO_IDS } as const;

/**
 * What CloudWatch invokes the function of a custom widget with: the widget's parameters, or the JSON of the action that
 * was clicked, and beside it what is in the forms.
 */
const WidgetEvent = Ids.extend({
  describe: z.unknown().optional(),
  /** What was clicked: the way back, a story, or the button of the form. Nothing when the dashboard brings itself up to date. */
  show: z.enum(['overview', 'story', 'typed']).optional().catch(undefined),
  widgetContext: z
    .object({
      theme: z.enum(['light', 'dark']).catch('light'),
      forms: z.object({ all: Form.catch(EMPTY.forms.all) }).catch(EMPTY.forms),
      params: Ids.catch(NO_IDS),
    })
    .catch(EMPTY),
});
type WidgetEvent = z.output<typeof WidgetEvent>;

/** What is to be shown. */
export type WidgetQuery =
  | { readonly show: 'documentation' }
  | { readonly show: 'overview' }
  | { readonly show: 'story'; readonly dispatchId: string; readonly applyIds: readonly string[] }
  /** Something else than an id, or a recipient without its dispatch. */
  | { readonly show: 'refusal'; readonly of: 'dispatchId' | 'applyId' | 'no-dispatchId'; readonly given: GivenIds };

/** What was given in their place, maybe cut short. */
interface GivenIds {
  readonly dispatchId: string;
  readonly applyId: string;
}

/** Every id that was ever given out looks like this. */
const DISPATCH_ID = /^[a-z2-7]{52}$/;

const CONTROL = /[\p{Cc}\u2028\u2029]/u;

const isApplyId = (text: string): boolean =>
  Buffer.byteLength(text) <= REQUEST_LIMITS.idBytes && text.isWellFormed() && !CONTROL.test(text);

/** Reads such an event; what it does not understand of it counts as absent. */
export const parseWidgetEvent = (event: unknown): { readonly query: WidgetQuery; readonly theme: 'light' | 'dark' } => {
  const parsed = WidgetEvent.safeParse(event);
  if (!parsed.success) return { query: { show: 'overview' }, theme: 'light' };
  const { describe, widgetContext } = parsed.data;
  const isDescribed = describe === true || describe === 'true';
  return { query: isDescribed ? { show: 'documentation' } : queryOf(idsOf(parsed.data)), theme: widgetContext.theme };
};

/** Never a part of what was clicked with a part of what was typed. */
const idsOf = ({ show, widgetContext: { forms, params }, ...own }: WidgetEvent): Ids => {
  const typed = forms.all;
  if (show === 'overview') return NO_IDS;
  if (show === 'typed') return typed;
  // Parameters come at the top as well, whatever is shown by now: only others than those were clicked.
  const isClicked = show === 'story' || own.dispatchId !== params.dispatchId || own.applyId !== params.applyId;
  if (isClicked && isFilled(own)) return own;
  const isFirst = typed.shown === undefined && !isFilled(typed);
  return isFirst ? params : (shownIds(typed.shown) ?? typed);
};

/** Undefined: it does not tell. */
const shownIds = (shown: string | undefined): Ids | undefined => {
  if (shown === undefined || shown === '') return undefined;
  const [dispatchId, ...applyId] = shown.split(' ');
  return shown === 'overview' ? NO_IDS : { dispatchId, applyId: applyId.join(' ') };
};

const isBlank = (text: string | null | undefined): boolean => text === null || text === undefined || text.trim() === '';

const isFilled = ({ dispatchId, applyId }: Ids): boolean => !isBlank(dispatchId) || !isBlank(applyId);

/** Longer than any id, and no longer than a field needs to be. */
const GIVEN_CHARACTERS = 200;

const cut = (text: string): string => text.slice(0, GIVEN_CHARACTERS).toWellFormed();

const queryOf = (ids: Ids): WidgetQuery => {
  if (!isFilled(ids)) return { show: 'overview' };
  const dispatchId = (ids.dispatchId ?? '').trim();
  const applyId = ids.applyId ?? '';
  const given = { dispatchId: cut(dispatchId), applyId: cut(applyId) };
  if (dispatchId === '') return { show: 'refusal', of: 'no-dispatchId', given };
  if (!DISPATCH_ID.test(dispatchId)) return { show: 'refusal', of: 'dispatchId', given };
  if (isBlank(applyId)) return { show: 'story', dispatchId, applyIds: [] };
  // Whoever pastes an id may have taken a space with it.
  const applyIds = [...new Set([applyId, applyId.trim()])].filter(isApplyId);
  return applyIds.length > 0 ? { show: 'story', dispatchId, applyIds } : { show: 'refusal', of: 'applyId', given };
};
