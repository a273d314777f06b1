import * as z from 'zod';

const Counts = z.record(z.string(), z.number());
export const Dispatch = z.object({ id: z.string(), status: z.string(), total: z.number(), counts: Counts });
export const Recipients = z.object({
  recipients: z.array(
    z.looseObject({
      applyId: z.string(),
      email: z.string(),
      status: z.string(),
      attemptCount: z.number(),
      messageId: z.string().optional(),
      sentAt: z.string().optional(),
      attempts: z.array(z.looseObject({ outcome: z.string().optional() })),
    }),
  ),
  next: z.string().nullable(),
});
export const Crashes = z.array(z.looseObject({ times: z.number(), fired: z.number() }));
export const BusEvent = z.looseObject({
  'detail-type': z.string(),
  detail: z.looseObject({ id: z.string(), dispatchId: z.string() }),
});
export const SendingView = z.looseObject({ paused: z.boolean(), by: z.string().optional(), code: z.string().optional() });
