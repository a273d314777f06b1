import { createHash } from 'node:crypto';

import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { fingerprintOf } from '../../../../../lambda/adapters/hashing/fingerprint.ts';
import type { RecipientInput } from '../../../../../lambda/domain/dispatch/content.ts';
import type { DispatchRequest } from '../../../../../lambda/domain/dispatch/dispatch-request.ts';

const kim: RecipientInput = { applyId: 'a-1', email: 'kim@example.com', variables: { name: 'Kim', slots: [1, { at: '10:00' }] } };
const lee: RecipientInput = { applyId: 'a-2', email: 'lee@example.com', variables: { name: '이', note: null } };
const request: DispatchRequest = {
  scenarioId: 'interview',
  recruitId: '7',
  recipients: [kim, lee],
  subject: 'Hello {{name}}',
  variables: { company: 'Acme', city: 'Seoul' },
  isTest: false,
  allowRepeat: false,
  unsubscribeUrl: 'https://example.com/u',
};

const withoutSubject = (of: DispatchRequest): DispatchRequest => {
  const copy: { -readonly [K in keyof DispatchRequest]: DispatchRequest[K] } = { ...of };
  delete copy.subject;
  return copy;
};

describe('a fingerprint', () => {
  it('is the SHA-256 of the canonical JSON of the whole request, with a version', () => {
    const { isTest, recipients, recruitId, scenarioId, subject, unsubscribeUrl: unsubscribe, variables } = request;
    const text = canonicalize({ v: 1, scenarioId, recruitId, recipients, subject, variables, isTest, unsubscribe }) ?? '';

    expect(fingerprintOf(request).whole).toBe(`v1:${createHash('sha256').update(text).digest('base64url')}`);
  });

  it('is the same for recipients in another order (A4)', () => {
    expect(fingerprintOf({ ...request, recipients: [lee, kim] })).toEqual(fingerprintOf(request));
  });

  it('is the same for keys in another order, at any depth (A4)', () => {
    const turned: DispatchRequest = {
      variables: { city: 'Seoul', company: 'Acme' },
      unsubscribeUrl: 'https://example.com/u',
      recipients: [{ variables: { slots: [1, { at: '10:00' }], name: 'Kim' }, email: kim.email, applyId: kim.applyId }, lee],
      isTest: false,
      allowRepeat: false,
      subject: 'Hello {{name}}',
      recruitId: '7',
      scenarioId: 'interview',
    };

    expect(fingerprintOf(turned)).toEqual(fingerprintOf(request));
  });

  it('is the same whether a repetition is allowed or not, and whatever version of the template is named: the guard compares by it (A5)', () => {
    expect(fingerprintOf({ ...request, allowRepeat: true })).toEqual(fingerprintOf(request));
    expect(fingerprintOf({ ...request, templateVersion: 'v-1' })).toEqual(fingerprintOf(request));
  });

  it.each<[string, Partial<DispatchRequest>]>([
    ['scenarioId', { scenarioId: 'rejection' }],
    ['recruitId', { recruitId: '8' }],
    ['recipients[].applyId', { recipients: [kim, { ...lee, applyId: 'a-3' }] }],
    ['recipients[].email', { recipients: [kim, { ...lee, email: 'l@example.com' }] }],
    ['recipients[].variables', { recipients: [{ ...kim, variables: { ...kim.variables, name: 'Kimm' } }, lee] }],
    ['subject', { subject: 'Hello' }],
    ['variables', { variables: { company: 'Acme' } }],
    ['isTest', { isTest: true }],
    ['unsubscribe', { unsubscribeUrl: 'https://example.com/v' }],
  ])('is another one when %s differs, and tells that it is that field alone (A3)', (field, change) => {
    const before = fingerprintOf(request);
    const after = fingerprintOf({ ...request, ...change });

    expect(after.whole).not.toBe(before.whole);
    const differ = Object.entries(after.fields).filter(([name, hash]) =>
      Object.entries(before.fields).some(([n, h]) => n === name && h !== hash),
    );
    expect(differ.map(([name]) => name)).toEqual([field]);
  });

  it.each<[string, DispatchRequest]>([
    ['one recipient more', { ...request, recipients: [kim, lee, { ...lee, applyId: 'a-3' }] }],
    ['one recipient less', { ...request, recipients: [kim] }],
    [
      'two addresses exchanged',
      {
        ...request,
        recipients: [
          { ...kim, email: lee.email },
          { ...lee, email: kim.email },
        ],
      },
    ],
    ['no subject', withoutSubject(request)],
    [
      'a variable that is empty instead of null',
      { ...request, recipients: [kim, { ...lee, variables: { name: '이', note: '' } }] },
    ],
    ['a variable that is absent instead of null', { ...request, recipients: [kim, { ...lee, variables: { name: '이' } }] }],
    ['the number 1 instead of "1"', { ...request, variables: { company: 'Acme', city: 1 } }],
    [
      'the same character in another normal form',
      { ...request, variables: { company: 'Acme', city: 'Seoul'.replace('e', 'e\u0301') } },
    ],
  ])('is another one with %s (A3)', (_name, other) => {
    expect(fingerprintOf(other).whole).not.toBe(fingerprintOf(request).whole);
  });

  it('depends on what is asked for and on nothing else', () => {
    const variables = fc.dictionary(
      fc.string({ unit: 'grapheme' }),
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.constant(null)),
      { maxKeys: 3 },
    );
    const recipients = fc.uniqueArray(
      fc.record({ applyId: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }), email: fc.emailAddress(), variables }),
      { selector: ({ applyId }) => applyId, maxLength: 4 },
    );
    const requests = fc.record({
      scenarioId: fc.string({ unit: 'grapheme' }),
      recruitId: fc.constant('7'),
      recipients,
      variables,
      isTest: fc.boolean(),
      allowRepeat: fc.constant(false),
    });
    const sorted = (of: DispatchRequest) =>
      canonicalize({ ...of, recipients: of.recipients.toSorted((a, b) => (a.applyId < b.applyId ? -1 : 1)) });

    fc.assert(
      fc.property(requests, requests, (one, other) => {
        expect(fingerprintOf({ ...one, recipients: one.recipients.toReversed() })).toEqual(fingerprintOf(one));
        expect(fingerprintOf(one).whole === fingerprintOf(other).whole).toBe(sorted(one) === sorted(other));
      }),
    );
  });
});
