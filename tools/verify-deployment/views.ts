import * as z from 'zod';

// What the checks read of the API's answers. Loose, so that the tool can judge a version that has more.

/** A dispatch with its recipients counted. */
export const DispatchNow = z.looseObject({
  id: z.string(),
  status: z.string(),
  total: z.number(),
  counts: z.record(z.string(), z.number()),
});
export type DispatchNow = z.output<typeof DispatchNow>;

export const Recipient = z.looseObject({
  applyId: z.string(),
  status: z.string(),
  lastErrorCode: z.string().optional(),
  delivery: z.string().optional(),
  events: z.array(z.looseObject({ kind: z.string() })).default([]),
  attempts: z.array(z.looseObject({ outcome: z.string().optional(), code: z.string().optional() })).default([]),
});
export type Recipient = z.output<typeof Recipient>;

export const Recipients = z.looseObject({ recipients: z.array(Recipient) });

export const Sending = z.looseObject({
  paused: z.boolean(),
  by: z.string().optional(),
  who: z.string().optional(),
  reason: z.string().optional(),
  code: z.string().optional(),
});
export type Sending = z.output<typeof Sending>;

export const Listed = z.looseObject({ dispatches: z.array(z.looseObject({ id: z.string(), status: z.string() })) });

export const Accepted = z.looseObject({ id: z.string() });

export const Export = z.looseObject({
  export: z.number(),
  state: z.string(),
  recipients: z.number(),
  url: z.string().optional(),
});
