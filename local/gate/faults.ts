import { QUOTA_EXCEEDED, RATE_EXCEEDED, type Refusal, refusal } from './refusal.ts';

/** What goes wrong with one call. "Taken" means: the mail is in the journal and the inbox, as SES would deliver it. */
export type Fault =
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  | { readonly kind: 'page'; readonly status: number; readonly html: string }
  /** The connection breaks, before or after the mail was taken. */
  | { readonly kind: 'reset'; readonly taken: boolean }
  /** Taken, but only half of the answer's JSON arrives. */
  | { readonly kind: 'half-answer' }
  /** Taken and answered, late. */
  | { readonly kind: 'slow'; readonly seconds: number }
  /** Never taken and never answered. */
  | { readonly kind: 'silent' };

type MakeFault = (recipient: string, argument: string | undefined) => Fault;

const refuse =
  (refused: Refusal): MakeFault =>
  () => ({ kind: 'refuse', refusal: refused });

const HTML_503 = '<html><head><title>503 Service Unavailable</title></head><body><h1>503</h1></body></html>';

/** Every fault by its name. An argument follows a colon (`slow:5`), in an address a plus (`slow+5@simulator.localhost`). */
export const FAULTS: Readonly<Record<string, MakeFault>> = {
  throttle: refuse(RATE_EXCEEDED),
  // AWS documents the text, but not the one name that goes with it.
  quota: (_, name) => ({ kind: 'refuse', refusal: { ...QUOTA_EXCEEDED, ...(name !== undefined && { name }) } }),
  paused: refuse(refusal(400, 'SendingPausedException', "Email sending is disabled for this account's identity.")),
  'bad-request': refuse(refusal(400, 'BadRequestException', 'Illegal address')),
  rejected: (recipient) => ({
    kind: 'refuse',
    refusal: refusal(
      400,
      'MessageRejected',
      `Email address is not verified. The following identities failed the check in region US-EAST-1: ${recipient}`,
    ),
  }),
  'server-error': refuse(refusal(500, 'InternalServiceErrorException', 'Internal service error')),
  'html-503': () => ({ kind: 'page', status: 503, html: HTML_503 }),
  'reset-before': () => ({ kind: 'reset', taken: false }),
  'reset-after-accept': () => ({ kind: 'reset', taken: true }),
  'half-answer': () => ({ kind: 'half-answer' }),
  slow: (_, seconds) => ({ kind: 'slow', seconds: Number(seconds ?? 60) }),
  silent: () => ({ kind: 'silent' }),
};

/** The fault of that name for a call; undefined if there is none. */
export const makeFault = (name: string, recipient: string): Fault | undefined => {
  const [kind = '', ...argument] = name.split(':');
  return FAULTS[kind]?.(recipient, argument.length > 0 ? argument.join(':') : undefined);
};

/** The fault that an address of the simulator asks for. */
export const faultOfAddress = (recipient: string): Fault | undefined => {
  const [local = '', domain] = recipient.split('@');
  return domain === 'simulator.localhost' ? makeFault(local.replace('+', ':'), recipient) : undefined;
};
