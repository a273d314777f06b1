/** SES's own words for what it tells about a mail: the values of `eventType`. */
export const EVENT_KINDS = [
  'Send',
  'Delivery',
  'Bounce',
  'Complaint',
  'Reject',
  'DeliveryDelay',
  // With a space, unlike the one above.
  'Rendering Failure',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

const letters = (text: string): string => text.replaceAll(/[^A-Za-z]/g, '').toLowerCase();

/** Whether a type of an event destination (`renderingFailure`, or `RENDERING_FAILURE` as in the API) is that kind. */
export const isOfType = (kind: EventKind, type: string): boolean => letters(kind) === letters(type);
