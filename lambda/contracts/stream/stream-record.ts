import * as z from 'zod';

const Text = z.object({ S: z.string() });
const Image = z.object({ status: Text.optional() }).optional();

/** A record of the table's stream, as far as the relay looks at it. */
export const StreamRecord = z.object({
  eventName: z.enum(['INSERT', 'MODIFY', 'REMOVE']),
  dynamodb: z.object({
    SequenceNumber: z.string().min(1),
    Keys: z.object({ pk: Text, sk: Text }),
    OldImage: Image,
    NewImage: Image,
  }),
});

export type StreamRecord = z.infer<typeof StreamRecord>;
