import * as z from 'zod';

const Batch = z.object({ Records: z.array(z.unknown()).min(1) });

/** What Lambda writes about a batch of the stream that it gave up; the whole event is in it, as text. */
const GivenUp = z.object({
  requestContext: z.object({ functionArn: z.string().optional() }).optional(),
  DDBStreamBatchInfo: z.object({}),
  payload: z.union([z.string(), Batch]),
});

/** What the relay put aside itself: one record, as the stream had it. */
const PutAside = z.object({ dynamodb: z.object({}) });

/** The two functions that follow the stream. */
export type Follower = 'relay' | 'progress';

/** Stream records that wait for the function that could not handle them. */
export interface KeptRecords {
  readonly follower: Follower;
  readonly records: readonly unknown[];
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** By the name of the function, which CloudFormation makes of that of its construct. */
const followerOf = (functionArn = ''): Follower => (/:function:.*follow-?progress/i.test(functionArn) ? 'progress' : 'relay');

/** What an object of the failure bucket holds; undefined if it is nothing that is put there. */
export const readKeptRecords = (text: string): KeptRecords | undefined => {
  const content = parseJson(text);
  if (PutAside.safeParse(content).success) return { follower: 'relay', records: [content] };
  const { payload, requestContext } = GivenUp.safeParse(content).data ?? {};
  const records = Batch.safeParse(typeof payload === 'string' ? parseJson(payload) : payload).data?.Records;
  return records && { follower: followerOf(requestContext?.functionArn), records };
};
