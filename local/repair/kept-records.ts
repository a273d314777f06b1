import * as z from 'zod';

const Batch = z.object({ Records: z.array(z.unknown()).min(1) });

/** What Lambda writes about a batch of the stream that it gave up; the whole event is in it, as text. */
const GivenUp = z.object({ DDBStreamBatchInfo: z.object({}), payload: z.union([z.string(), Batch]) });

/** What the relay put aside itself: one record, as the stream had it. */
const PutAside = z.object({ dynamodb: z.object({}) });

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The stream records that an object of the failure bucket holds; undefined if it is nothing that is put there. */
export const readKeptRecords = (text: string): readonly unknown[] | undefined => {
  const content = parseJson(text);
  if (PutAside.safeParse(content).success) return [content];
  const { payload } = GivenUp.safeParse(content).data ?? {};
  return Batch.safeParse(typeof payload === 'string' ? parseJson(payload) : payload).data?.Records;
};
