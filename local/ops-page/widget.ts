import * as z from 'zod';

import { ACCOUNT } from '../cloudformation/types/identity.ts';
import type { FunctionPool } from '../lambda-host/pool.ts';

/** What the page asks the widget for: the content of a `cwdb-action`, and the form as it is filled in. */
export const WidgetCall = z.strictObject({
  /** The function that the action names; ours is the only one there is. */
  endpoint: z.string().optional(),
  payload: z.record(z.string(), z.json()).default({}),
  forms: z.record(z.string(), z.string()).default({}),
  theme: z.enum(['light', 'dark']).default('light'),
});
export type WidgetCall = z.output<typeof WidgetCall>;

/** The widget's HTML, or why there is none. */
export type WidgetAnswer = { readonly ok: true; readonly html: string } | { readonly ok: false; readonly reason: string };

const WINDOW_MS = 3 * 3_600_000;

/** The event that CloudWatch calls a custom widget's function with: the action's own content, and around it the widget. */
export const toWidgetEvent = ({ payload, forms, theme }: WidgetCall, now: Date) => ({
  ...payload,
  widgetContext: {
    dashboardName: 'local',
    widgetId: 'widget-1',
    accountId: ACCOUNT,
    locale: 'en',
    timezone: { label: 'UTC', offsetISO: '+00:00', offsetInMinutes: 0 },
    period: 300,
    isAutoPeriod: true,
    timeRange: { mode: 'relative', start: now.getTime() - WINDOW_MS, end: now.getTime(), relativeStart: WINDOW_MS },
    theme,
    linkCharts: true,
    title: 'Operations',
    forms: { all: forms },
    params: {},
    width: 1200,
    height: 800,
  },
});

const failed = (reason: string): WidgetAnswer => ({ ok: false, reason });

/** Calls the widget's function as CloudWatch would. */
export const callWidget = async (pool: FunctionPool | undefined, call: WidgetCall): Promise<WidgetAnswer> => {
  if (pool === undefined) return failed('The template has no function for the widget.');
  if (call.endpoint !== undefined && call.endpoint !== pool.definition.arn) return failed('The action names another function.');
  const result = await pool.invoke(toWidgetEvent(call, new Date()));
  if (!result.ok) return failed(`The widget's function failed: ${result.errorType}. Its log is in the folder logs.`);
  const answer = z.string().safeParse(JSON.parse(result.payload));
  return answer.success ? { ok: true, html: answer.data } : failed('The widget’s function answered something else than HTML.');
};
