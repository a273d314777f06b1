/** Milliseconds since the epoch. The domain never reads a clock; callers pass the time in. */
export type Instant = number;

/** ISO-8601 in UTC with milliseconds: the form in the table and in the API. Sorts as text. */
export const toIso = (instant: Instant): string => new Date(instant).toISOString();

/** The reverse of {@link toIso}; throws a RangeError on text that is no instant. */
export const fromIso = (iso: string): Instant => {
  const instant = Date.parse(iso);
  if (Number.isNaN(instant)) throw new RangeError('not an ISO-8601 instant');
  return instant;
};

/** Epoch seconds a number of days later: the form of DynamoDB's TTL attribute. */
export const expiryAfter = (now: Instant, days: number): number => Math.floor(now / 1000) + days * 86_400;
