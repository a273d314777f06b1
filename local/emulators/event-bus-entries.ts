import { randomUUID } from 'node:crypto';

import * as z from 'zod';

import { ACCOUNT, REGION } from '../cloudformation/types/identity.ts';

/** All entries of one call together may hold that many bytes. */
const MOST_BYTES = 262_144;

/** What a call may hold at all; anything else refuses the whole call. */
export const PutEvents = z
  .object({
    Entries: z
      .array(
        z.object({
          Time: z.number().optional(),
          Source: z.string().optional(),
          DetailType: z.string().optional(),
          Detail: z.string().optional(),
          EventBusName: z.string().optional(),
          Resources: z.array(z.string()).optional(),
        }),
      )
      .min(1)
      .max(10),
  })
  .refine(
    ({ Entries }) => Buffer.byteLength(JSON.stringify(Entries)) <= MOST_BYTES,
    'Total size of the entries is over the limit.',
  );
type Entry = z.output<typeof PutEvents>['Entries'][number];

/** An event as its subscribers get it. */
export interface BusEvent {
  readonly version: '0';
  readonly id: string;
  readonly source: string;
  readonly 'detail-type': string;
  readonly account: string;
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: unknown;
}

/** What becomes of one entry. */
export type EntryResult = { readonly event: BusEvent } | { readonly ErrorCode: string; readonly ErrorMessage: string };

const invalid = (name: string): EntryResult => ({
  ErrorCode: 'InvalidArgument',
  ErrorMessage: `Parameter ${name} is not valid. Reason: ${name} is a required argument.`,
});

const parseObject = (text: string): unknown => {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

/** Takes an entry or says what is wrong with it. A bus that no template describes is refused, where AWS would drop the event. */
export const takeEntry = (entry: Entry, buses: readonly string[], now: number): EntryResult => {
  const { Source = '', DetailType = '', Detail = '', EventBusName = 'default', Resources = [], Time } = entry;
  if (Source === '') return invalid('Source');
  if (DetailType === '') return invalid('DetailType');
  if (Detail === '') return invalid('Detail');
  const detail = parseObject(Detail);
  if (detail === undefined) return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
  if (!buses.includes(EventBusName)) {
    return { ErrorCode: 'InvalidArgument', ErrorMessage: `There is no event bus ${EventBusName} here.` };
  }
  const at = new Date(Time === undefined ? now : Time * 1000);
  return {
    event: {
      version: '0',
      id: randomUUID(),
      source: Source,
      'detail-type': DetailType,
      account: ACCOUNT,
      time: `${at.toISOString().slice(0, 19)}Z`,
      region: REGION,
      resources: Resources,
      detail,
    },
  };
};
