/** The times that must grow in this order for a mail never to be sent by two workers. */
export interface TimeOrder {
  readonly sesTimeoutSeconds: number;
  readonly functionTimeoutSeconds: number;
  readonly leaseSeconds: number;
  readonly visibilitySeconds: number;
}

/** Each pair: the shorter one, the longer one, and what goes wrong otherwise. */
const ORDER: readonly (readonly [keyof TimeOrder, keyof TimeOrder, string])[] = [
  ['sesTimeoutSeconds', 'functionTimeoutSeconds', 'the function would be killed in the middle of a call to SES'],
  ['functionTimeoutSeconds', 'leaseSeconds', 'a second worker could send while the first one still does'],
  ['leaseSeconds', 'visibilitySeconds', 'the message of a dead worker would come back before its lease is over'],
];

/** What is wrong with the order of the times; empty if nothing is. */
export const faultsOfTimeOrder = (times: TimeOrder): string[] =>
  ORDER.filter(([shorter, longer]) => times[shorter] >= times[longer]).map(
    ([shorter, longer, otherwise]) =>
      `${shorter} (${times[shorter]}) must be less than ${longer} (${times[longer]}), or ${otherwise}`,
  );
