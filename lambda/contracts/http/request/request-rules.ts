import { REQUEST_LIMITS } from '../../../domain/dispatch/dispatch-request.ts';

/** A pause's reason is a sentence. */
export const REASON_BYTES = 500;

const number = (amount: number): string => amount.toLocaleString('en-US');

/** Every rule that a request can break. The names are part of the API; the sentences are for people. */
export const REQUEST_RULES = {
  required: 'is missing',
  type: 'has the wrong type',
  'unknown-field': 'is not a field of this request',
  'id-length': `must be 1 to ${number(REQUEST_LIMITS.idBytes)} bytes of UTF-8`,
  'id-number': 'must be a string or a safe integer',
  'control-characters': 'must not contain control characters or line breaks',
  'malformed-unicode': 'contains half of a surrogate pair',
  'no-recipients': 'must name at least one recipient',
  'too-many-recipients': `must name at most ${number(REQUEST_LIMITS.recipients)} recipients`,
  'duplicate-apply-id': 'is the applyId of an earlier recipient',
  'email-address': 'is not one mail address',
  'email-local-part': 'must have at most 64 ASCII characters before the @',
  'email-domain': 'has no valid domain after the @',
  'subject-length': `must be at most ${number(REQUEST_LIMITS.subjectBytes)} bytes of UTF-8`,
  'template-version-length': `must be at most ${number(REQUEST_LIMITS.templateVersionBytes)} bytes of UTF-8`,
  'unsubscribe-length': `must be at most ${number(REQUEST_LIMITS.unsubscribeUrlBytes)} bytes of UTF-8`,
  'reason-length': `must be at most ${number(REASON_BYTES)} bytes of UTF-8`,
  'no-statuses': 'must name at least one of FAILED and UNKNOWN',
  'no-apply-ids': 'must name at least one recipient, or be left out for all',
  'apply-ids-or-all': 'must name recipients, or be left out with "all": true',
  'too-many-apply-ids': 'must name at most 100 recipients; leave it out for all',
  'note-empty': 'must say how it is known',
  'not-when-resuming': 'says why sending pauses, and goes with "paused": true only',
  'own-variables-size': `must be at most ${number(REQUEST_LIMITS.ownVariablesBytes)} bytes of JSON`,
  'shared-variables-size': `must be at most ${number(REQUEST_LIMITS.sharedVariablesBytes)} bytes of JSON`,
  'variable-depth': `must be nested at most ${number(REQUEST_LIMITS.variableDepth)} levels deep`,
  'number-range': 'is a number beyond the range of a double',
  'reserved-name': 'is a name that cannot be used',
} as const satisfies Record<string, string>;

export type RequestRule = keyof typeof REQUEST_RULES;

/** Whether a text is one of the rules. */
export const isRequestRule = (text: string): text is RequestRule => Object.hasOwn(REQUEST_RULES, text);
