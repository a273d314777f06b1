import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { parseMailEvent } from '../../lambda/contracts/ses/mail-event.ts';
import type { MailEvent } from '../../lambda/domain/recipient/delivery.ts';

interface Recorded {
  readonly eventType?: string;
  readonly mail: Record<string, unknown> & { readonly tags: Record<string, unknown> };
}

/** Events in the shape that AWS documents for a topic, as it delivers them raw; with addresses of example.com. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'recorded/mail-events.json'), 'utf8')) as Record<
  string,
  Recorded
>;
const sample = (name: string): Recorded => {
  const found = recorded[name];
  if (found === undefined) throw new Error(`nothing is recorded as ${name}`);
  return found;
};
const parse = (event: unknown) => parseMailEvent(JSON.stringify(event));

const messageId = '0102019c7f2a4b10-5d2f8a61-7d0e-4c0b-9a55-3b1f0c9d2e77-000000';
const sentAt = Date.parse('2026-03-02T09:00:00.000Z');
const origin = {
  key: { dispatchId: 'k5ux3ad2q', shard: 12, applyId: '지원-1' },
  round: 1,
  n: 2,
  lease: '3f0e6c5e-56c8-4a3a-9a0d-0f6f1a1c2b3d',
};
const at = (time: string): number => Date.parse(`2026-03-02T${time}Z`);
const bouncedAt = at('09:00:03.120');

describe('an event about a mail of ours', () => {
  it.each<[string, Omit<MailEvent, 'messageId'>]>([
    ['send', { kind: 'send', at: sentAt }],
    ['delivery', { kind: 'delivery', at: at('09:00:01.741') }],
    ['delivery-delay', { kind: 'delivery-delay', at: at('09:05:00.914'), detail: 'MailboxFull' }],
    ['bounce', { kind: 'bounce', at: bouncedAt, detail: 'Permanent/General' }],
    ['bounce-soft', { kind: 'soft-bounce', at: bouncedAt, detail: 'Transient/MailboxFull' }],
    ['complaint', { kind: 'complaint', at: at('10:15:00.000'), detail: 'abuse' }],
    ['reject', { kind: 'reject', at: sentAt }],
    ['rendering-failure', { kind: 'rendering-failure', at: sentAt }],
  ])('is read, with the attempt that it is about: %s (E1)', (name, event) => {
    expect(parse(sample(name))).toEqual({ kind: 'event', origin, event: { messageId, ...event }, sentAt });
  });

  it.each<[string, Omit<MailEvent, 'messageId' | 'suppressed'>]>([
    ['bounce-suppressed-by-account', { kind: 'bounce', at: bouncedAt, detail: 'Permanent/OnAccountSuppressionList' }],
    ['bounce-suppressed-globally', { kind: 'bounce', at: bouncedAt, detail: 'Permanent/Suppressed' }],
    ['bounce-suppressed-by-tenant', { kind: 'bounce', at: bouncedAt, detail: 'Permanent/OnTenantSuppressionList' }],
    ['bounce-suppressed-by-validation', { kind: 'bounce', at: bouncedAt, detail: 'Permanent/EmailValidationSuppressed' }],
    ['complaint-suppressed', { kind: 'complaint', at: at('10:15:00.000'), detail: 'OnAccountSuppressionList' }],
  ])('tells that SES did not try, for the address is on a list: %s (S15)', (name, event) => {
    expect(parse(sample(name))).toMatchObject({ event: { ...event, suppressed: true } });
  });

  it('carries neither an address nor a text of SES', () => {
    for (const event of Object.values(recorded)) {
      expect(JSON.stringify(parse(event))).not.toMatch(/example|user unknown|not present|Bad content|interview/);
    }
  });
});

describe('of an event about a mail of ours that is partly unreadable', () => {
  const bounce = sample('bounce');

  it.each<[string, object]>([
    ['it has no part about its kind', { bounce: undefined }],
    ['that part is none', { bounce: 'Permanent' }],
    ['that part has no time and no words', { bounce: {} }],
    ['its time is no time', { bounce: { timestamp: 'yesterday' } }],
  ])('the rest counts, as it proves as much, when %s', (_name, change) => {
    expect(parse({ ...bounce, ...change })).toEqual({
      kind: 'event',
      origin,
      // Of which nobody knows that it is permanent.
      event: { kind: 'soft-bounce', messageId, at: sentAt },
      sentAt,
    });
  });

  it.each([
    ['holds an address', 'kim@example.com'],
    ['is a sentence', 'Mailbox does not exist'],
    ['is endless', 'x'.repeat(61)],
  ])('a word that %s is left out', (_name, bounceSubType) => {
    expect(parse({ ...bounce, bounce: { bounceType: 'Permanent', bounceSubType } })).toMatchObject({
      event: { detail: 'Permanent' },
    });
  });
});

describe('a bounce', () => {
  const bounce = sample('bounce');

  it.each([
    ['Permanent', 'NoEmail', 'bounce'],
    ['Transient', 'General', 'soft-bounce'],
    ['Undetermined', 'Undetermined', 'soft-bounce'],
    ['Of a new type', 'General', 'soft-bounce'],
    [undefined, 'General', 'soft-bounce'],
  ])('of type %s and subtype %s is a %s (V4)', (bounceType, bounceSubType, kind) => {
    expect(parse({ ...bounce, bounce: { bounceType, bounceSubType } })).toMatchObject({ event: { kind } });
  });
});

describe('an event that changes no recipient', () => {
  it.each([
    ['open', 'Open'],
    ['click', 'Click'],
    ['subscription', 'Subscription'],
    ['complaint-not-spam', 'Complaint'],
  ])('is ignored: %s (E1)', (name, eventType) => {
    expect(parse(sample(name))).toEqual({ kind: 'ignored', eventType });
  });

  it.each([
    ['of a kind that nobody knows yet', 'Teleported', 'Teleported'],
    ['whose kind is no word', 'kim@example.com', 'none'],
    ['whose kind is a word of JavaScript', 'constructor', 'constructor'],
  ])('is ignored: one %s (E1)', (_name, eventType, told) => {
    expect(parse({ ...sample('send'), eventType })).toEqual({ kind: 'ignored', eventType: told });
  });

  it.each(['canary', 'canary-delivery'])('is a sign of the canary: %s (E3)', (name) => {
    expect(parse(sample(name))).toEqual({ kind: 'canary', sentAt: at('09:06:00.000'), isSend: name === 'canary' });
  });

  it.each(['without-our-tags', 'identity-notification'])('is foreign: %s (E3)', (name) => {
    expect(parse(sample(name))).toEqual({ kind: 'foreign' });
  });

  it.each([
    ['the text with which SES tries a new topic', 'Successfully validated SNS topic for Amazon SES event publishing.'],
    ['nothing', ''],
    ['null', 'null'],
    ['an event about no mail', JSON.stringify({ eventType: 'Send' })],
    ['half an event', JSON.stringify(recorded['send']).slice(0, 400)],
  ])('is malformed: %s (E3)', (_name, body) => {
    expect(parseMailEvent(body)).toEqual({ kind: 'malformed' });
  });

  it.each<[string, object]>([
    ['no time', { timestamp: undefined }],
    ['a time that is none', { timestamp: 'now' }],
    ['no message id', { messageId: '' }],
  ])('is malformed: one about a mail with %s (E3)', (_name, change) => {
    const { mail, ...rest } = sample('send');
    expect(parse({ ...rest, mail: { ...mail, ...change } })).toEqual({ kind: 'malformed' });
  });

  it.each<[string, unknown]>([
    ['shard', ['-1']],
    ['shard', 12],
    ['recipient', undefined],
    ['recipient', ['not base64url!']],
    ['round', []],
    ['attempt', ['two']],
    ['lease', ['-of-another-shape']],
    ['lease', ['x'.repeat(65)]],
    ['dispatchId', ['']],
  ])('is malformed: one whose tag %s is %j (E3)', (tag, value) => {
    const { mail, ...rest } = sample('send');
    expect(parse({ ...rest, mail: { ...mail, tags: { ...mail.tags, [tag]: value } } })).toEqual({ kind: 'malformed' });
  });
});
