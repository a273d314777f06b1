import * as z from 'zod';

/** What a message of the send queue says: ids only, so that queues and dead letters hold no personal data. */
export const SendMessageBody = z.object({
  v: z.literal(1),
  /** Ours, random; unlike SQS's messageId it survives a redrive. */
  id: z.string().min(1),
  dispatchId: z.string().min(1),
  shard: z.number().int().nonnegative(),
  applyId: z.string().min(1),
  enqueuedAt: z.iso.datetime(),
});

const Task = z.object({ v: z.literal(1), id: z.string().min(1), dispatchId: z.string().min(1) });

/** What a message of the task queue says: make recipients of a batch, or carry out the task that the table holds. */
export const TaskMessageBody = z.discriminatedUnion('kind', [
  Task.extend({ kind: z.literal('expand'), batch: z.number().int().nonnegative() }),
  Task.extend({ kind: z.literal('run'), task: z.number().int().positive() }),
]);

export type TaskMessageBody = z.infer<typeof TaskMessageBody>;
export type SendMessageBody = z.infer<typeof SendMessageBody>;

/** JSON in ASCII alone: SQS refuses some Unicode characters that an applyId may hold. */
export const toAsciiJson = (body: SendMessageBody | TaskMessageBody): string =>
  JSON.stringify(body).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
