import { createHash } from 'node:crypto';

import canonicalize from 'canonicalize';

import type { Fingerprint } from '../../application/ports/accept.ts';
import type { RecipientInput } from '../../domain/dispatch/content.ts';
import type { DispatchRequest } from '../../domain/dispatch/dispatch-request.ts';

/** Another way of computing fingerprints needs another version: stored ones must not be compared with new ones by chance. */
const VERSION = 1;

/** Field hashes only say where requests differ, so half of their length is enough. */
const FIELD_HASH_BYTES = 16;

const sha256 = () => createHash('sha256');

/** RFC 8785. */
const canonical = (value: unknown): string => {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
};

/** The canonical JSON of an array, hashed piece by piece: of 50,000 recipients it would be a text of 20 MB. */
const arrayHash = () => {
  const hash = sha256();
  let separator = '[';
  return {
    add(element: string): void {
      hash.update(separator + element);
      separator = ',';
    },
    digest: (): string =>
      hash
        .update(separator === '[' ? '[]' : ']')
        .digest()
        .subarray(0, FIELD_HASH_BYTES)
        .toString('base64url'),
  };
};

const fieldHash = (value: unknown): string =>
  sha256().update(canonical(value)).digest().subarray(0, FIELD_HASH_BYTES).toString('base64url');

const byApplyId = (a: RecipientInput, b: RecipientInput): number => (a.applyId < b.applyId ? -1 : Number(a.applyId > b.applyId));

/**
 * SHA-256 over the canonical JSON of what a request asks for. The order of keys and recipients, white space, and
 * whether a default is spelled out make no difference.
 */
export const fingerprintOf = (request: DispatchRequest): Fingerprint => {
  const { scenarioId, recruitId, isTest, variables } = request;
  const subject = request.subject ?? null;
  const unsubscribe = request.unsubscribeUrl ?? null;

  const applyIds = arrayHash();
  const emails = arrayHash();
  const ownVariables = arrayHash();
  // The names of the whole, as canonical JSON has them, in their canonical order.
  const whole = sha256().update(`{"isTest":${canonical(isTest)},"recipients":[`);
  let separator = '';
  for (const recipient of request.recipients.toSorted(byApplyId)) {
    const applyId = canonical(recipient.applyId);
    const email = canonical(recipient.email);
    const own = canonical(recipient.variables);
    applyIds.add(applyId);
    emails.add(email);
    ownVariables.add(own);
    whole.update(`${separator}{"applyId":${applyId},"email":${email},"variables":${own}}`);
    separator = ',';
  }
  const rest = canonical({ recruitId, scenarioId, subject, unsubscribe, v: VERSION, variables });
  whole.update(`],${rest.slice(1)}`);

  return {
    whole: `v${VERSION}:${whole.digest('base64url')}`,
    fields: {
      scenarioId: fieldHash(scenarioId),
      recruitId: fieldHash(recruitId),
      'recipients[].applyId': applyIds.digest(),
      'recipients[].email': emails.digest(),
      'recipients[].variables': ownVariables.digest(),
      subject: fieldHash(subject),
      variables: fieldHash(variables),
      isTest: fieldHash(isTest),
      unsubscribe: fieldHash(unsubscribe),
    },
  };
};
