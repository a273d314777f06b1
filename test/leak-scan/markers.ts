import { gunzipSync } from 'node:zlib';

import type { Marker } from './search.ts';

/** Shorter texts come up by chance. One in another script than our own words hardly does. */
const LEAST: Readonly<Record<Marker['kind'], number>> = { address: 4, variable: 6, subject: 8 };
const isTelling = ({ kind, value }: Marker): boolean =>
  /\P{ASCII}/u.test(value) ? value.length >= 2 : value.replace(/\s/g, '').length >= LEAST[kind];

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isRecord(value) ? Object.values(value).flatMap(textsIn) : [];
};

/** Each address ends in its domain, and there are few of these. */
const domainOf = (address: string): string[] => (address.includes('@') ? [address.slice(address.lastIndexOf('@'))] : []);

const parse = (body: string | Uint8Array): unknown => {
  try {
    const text = typeof body === 'string' ? body : gunzipSync(body).toString('utf8');
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    // Refused as it is, and then nothing of it is known to the product.
    return undefined;
  }
};

/** What the body of a request has in it that nobody may see. */
export const markersOfRequest = (body: string | Uint8Array): Marker[] => {
  const request = parse(body);
  if (!isRecord(request)) return [];
  const recipients = Array.isArray(request['recipients']) ? request['recipients'].filter(isRecord) : [];
  const own = recipients.flatMap(({ email, variables }) => [
    ...textsIn(email)
      .flatMap(domainOf)
      .map((value): Marker => ({ kind: 'address', value })),
    ...textsIn(variables).map((value): Marker => ({ kind: 'variable', value })),
  ]);
  const shared = textsIn(request['variables']).map((value): Marker => ({ kind: 'variable', value }));
  const subjects = textsIn(request['subject']).map((value): Marker => ({ kind: 'subject', value }));
  return [...own, ...shared, ...subjects].filter(isTelling);
};

/** The subjects as they went out, of the journal of what SES took. */
export const markersOfJournal = (journal: string): Marker[] =>
  journal
    .split('\n')
    .map(parse)
    .filter(isRecord)
    .flatMap(({ subject }) => textsIn(subject))
    .map((value): Marker => ({ kind: 'subject', value }))
    .filter(isTelling);

/** Each once. */
export const distinct = (markers: readonly Marker[]): Marker[] => [
  ...new Map(markers.map((marker) => [JSON.stringify(marker), marker])).values(),
];
