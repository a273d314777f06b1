import { QUOTA_EXCEEDED, RATE_EXCEEDED, type Refusal, refusal, SENDING_PAUSED, SUSPENDED } from './refusal.ts';
import { parseSimulated } from './simulator.ts';

/** What goes wrong with one call. "Taken" means: the mail is in the journal and the inbox, and has its events. */
export type Fault =
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  | { readonly kind: 'page'; readonly status: number; readonly html: string }
  /** The connection breaks: before the body is read, after that, or after the mail was taken. */
  | { readonly kind: 'reset'; readonly moment: 'unread' | 'read' | 'taken' }
  /** Taken, but only half of the answer's JSON arrives. */
  | { readonly kind: 'half-answer' }
  /** Taken at once, answered late. */
  | { readonly kind: 'slow'; readonly seconds: number }
  /** Never answered. */
  | { readonly kind: 'silent'; readonly taken: boolean };

/** What of a call its fault may depend on. */
export interface FaultyCall {
  readonly recipient: string;
  readonly from: string;
  /** The dispatch that the mail is tagged with; a canary has none. */
  readonly dispatchId?: string | undefined;
}

type MakeFault = (call: FaultyCall, argument: string | undefined) => Fault;

const refuse =
  (refused: Refusal): MakeFault =>
  () => ({ kind: 'refuse', refusal: refused });

const HTML_503 = '<html><head><title>503 Service Unavailable</title></head><body><h1>503</h1></body></html>';
const SLOW_SECONDS = 60;

/** AWS documents the text of an exhausted quota, but not the one name that goes with it. */
const QUOTA_NAMES: Readonly<Record<string, number>> = {
  LimitExceededException: 400,
  ThrottlingException: 400,
  TooManyRequestsException: 429,
};

const unverified = (identity: string): Fault => ({
  kind: 'refuse',
  refusal: refusal(
    400,
    'MessageRejected',
    `Email address is not verified. The following identities failed the check in region US-EAST-1: ${identity}`,
  ),
});

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).replace('>', '');

/** Every fault by its name. An argument follows a colon (`slow:5`), in an address a plus (`slow+5@simulator.localhost`). */
export const FAULTS: Readonly<Record<string, MakeFault>> = {
  throttle: refuse(RATE_EXCEEDED),
  quota: (_, name = QUOTA_EXCEEDED.name) => {
    const status = QUOTA_NAMES[name];
    return { kind: 'refuse', refusal: status === undefined ? QUOTA_EXCEEDED : { ...QUOTA_EXCEEDED, status, name } };
  },
  paused: refuse(SENDING_PAUSED),
  suspended: refuse(SUSPENDED),
  'rejected-from': ({ from }) => unverified(from),
  'mail-from': ({ from }) => ({
    kind: 'refuse',
    refusal: refusal(400, 'MailFromDomainNotVerifiedException', `Mail from domain ${domainOf(from)} is not verified.`),
  }),
  'access-denied': refuse(
    refusal(403, 'AccessDeniedException', 'User local is not authorized to perform: ses:SendEmail on the resource.'),
  ),
  credentials: refuse(refusal(403, 'ExpiredTokenException', 'The security token included in the request is expired')),
  'paused-as-rejected': refuse(refusal(400, 'MessageRejected', 'Sending paused for this account.')),
  'no-configuration-set': refuse(refusal(404, 'NotFoundException', 'Configuration set <local> does not exist.')),
  rejected: ({ recipient }) => unverified(recipient),
  'rejected-content': refuse(refusal(400, 'MessageRejected', 'The content of the message is not allowed.')),
  'bad-request': refuse(refusal(400, 'BadRequestException', 'Illegal address')),
  // A name that the sender does not know.
  conflict: refuse(refusal(409, 'ConflictException', 'The resource is being changed by another request.')),
  'server-error': refuse(refusal(500, 'InternalServiceErrorException', 'Internal service error')),
  'html-503': () => ({ kind: 'page', status: 503, html: HTML_503 }),
  'reset-unread': () => ({ kind: 'reset', moment: 'unread' }),
  'reset-before': () => ({ kind: 'reset', moment: 'read' }),
  'reset-after-accept': () => ({ kind: 'reset', moment: 'taken' }),
  'half-answer': () => ({ kind: 'half-answer' }),
  slow: (_, seconds) => ({ kind: 'slow', seconds: Number(seconds) >= 0 ? Number(seconds) : SLOW_SECONDS }),
  silent: () => ({ kind: 'silent', taken: false }),
  'silent-after-accept': () => ({ kind: 'silent', taken: true }),
};

/** The fault of that name for a call; undefined if there is none. */
export const makeFault = (name: string, call: FaultyCall): Fault | undefined => {
  const [kind = '', ...argument] = name.split(':');
  return FAULTS[kind]?.(call, argument.length > 0 ? argument.join(':') : undefined);
};

/** The fault that an address of the simulator asks for; labels it does not know are there to tell addresses apart. */
export const faultOfAddress = (call: FaultyCall): Fault | undefined => {
  const address = parseSimulated(call.recipient);
  return address === undefined || address.isOfSes ? undefined : FAULTS[address.name]?.(call, address.labels[0]);
};
