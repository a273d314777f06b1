import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createRequestParser, type ParsedRequest } from '../../../../../../lambda/contracts/http/request/dispatch-request.ts';
import type { NormaliseAddress } from '../../../../../../lambda/domain/recipient/email-address.ts';

/** Takes what has an @ in it, in lower case. */
const normalise: NormaliseAddress = (text) =>
  text.includes('@') ? { ok: true, address: text.toLowerCase() } : { ok: false, fault: 'email-address' };
const parse = createRequestParser(normalise);

const recipient = { applyId: 'a-1', email: 'Kim@example.com', variables: { name: 'Kim' } };
const body = { scenarioId: 'interview', recruitId: '7', recipients: [recipient] };

const faults = (parsed: ParsedRequest): string[] =>
  parsed.ok ? [] : parsed.faults.map(({ pointer, rule, applyId }) => [pointer, rule, applyId].filter(Boolean).join(' '));
const requestOf = (value: unknown) => {
  const parsed = parse(value);
  if (!parsed.ok) throw new Error(faults(parsed).join(', '));
  return parsed.request;
};

describe('a request', () => {
  it('becomes what is to be sent, with its defaults', () => {
    expect(requestOf(body)).toEqual({
      scenarioId: 'interview',
      recruitId: '7',
      recipients: [{ applyId: 'a-1', email: 'kim@example.com', variables: { name: 'Kim' } }],
      variables: {},
      isTest: false,
      allowRepeat: false,
    });
  });

  it.each([
    ['null', { subject: null, templateVersion: null, variables: null, isTest: null, allowRepeat: null, unsubscribe: null }],
    ['empty', { subject: '', variables: {}, isTest: false, unsubscribe: { url: '' } }],
    ['an unsubscribe without an address', { unsubscribe: {} }],
  ])('is the same with optional fields that are %s (A4)', (_name, more) => {
    expect(requestOf({ ...body, ...more })).toEqual(requestOf(body));
  });

  it('takes the ids 1 and "1" for the same', () => {
    const asNumbers = { scenarioId: 1, recruitId: 7, recipients: [{ ...recipient, applyId: 3 }] };

    expect(requestOf(asNumbers)).toEqual(
      requestOf({ scenarioId: '1', recruitId: '7', recipients: [{ ...recipient, applyId: '3' }] }),
    );
  });

  it('keeps null, empty and absent variables apart', () => {
    const own = (variables: unknown) =>
      requestOf({ ...body, recipients: [{ ...recipient, variables }] }).recipients[0]?.variables;

    expect(own({ name: null })).toEqual({ name: null });
    expect(own({ name: '' })).toEqual({ name: '' });
    expect(own(null)).toEqual({});
  });
});

const json = (text: string): unknown => JSON.parse(text);
const withRecipient = (more: object) => ({ ...body, recipients: [{ ...recipient, ...more }] });
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

describe('a rule of requests', () => {
  it.each<[string, unknown, string[]]>([
    ['no object', [], ['type']],
    ['nothing', null, ['type']],
    ['no fields', {}, ['/scenarioId required', '/recruitId required', '/recipients required']],
    ['an unknown field', { ...body, recipents: [] }, ['/recipents unknown-field']],
    ['an unknown field of a recipient', withRecipient({ name: 'Kim' }), ['/recipients/0/name unknown-field a-1']],
    ['no recipients', { ...body, recipients: [] }, ['/recipients no-recipients']],
    ['recipients that are no list', { ...body, recipients: {} }, ['/recipients type']],
    ['a recipient that is no object', { ...body, recipients: ['kim@example.com'] }, ['/recipients/0 type']],
    ['an empty id', { ...body, recruitId: '' }, ['/recruitId id-length']],
    ['an id of 129 bytes', withRecipient({ applyId: 'é'.repeat(64) + 'x' }), ['/recipients/0/applyId id-length']],
    ['an id beyond the safe integers', { ...body, scenarioId: 2 ** 53 }, ['/scenarioId id-number']],
    ['an id that is no whole number', { ...body, scenarioId: 1.5 }, ['/scenarioId id-number']],
    ['an id of another type', { ...body, scenarioId: true }, ['/scenarioId type']],
    ['an id with a line break', withRecipient({ applyId: 'a\nb' }), ['/recipients/0/applyId control-characters']],
    ['an id with half a character', withRecipient({ applyId: '\ud83d' }), ['/recipients/0/applyId malformed-unicode']],
    ['no address', withRecipient({ email: 'kim' }), ['/recipients/0/email email-address a-1']],
    ['an address of another type', withRecipient({ email: 5 }), ['/recipients/0/email type a-1']],
    ['a missing address', withRecipient({ email: undefined }), ['/recipients/0/email required a-1']],
    ['a subject with a line break (S13)', { ...body, subject: 'Hi\r\nBcc: x' }, ['/subject control-characters']],
    ['a subject with a line separator (S13)', { ...body, subject: 'Hi\u2028x' }, ['/subject control-characters']],
    ['a subject of 4,097 bytes', { ...body, subject: 'x'.repeat(4097) }, ['/subject subject-length']],
    [
      'an unsubscribe URL with NUL',
      { ...body, unsubscribe: { url: 'https://x.org/\0' } },
      ['/unsubscribe/url control-characters'],
    ],
    [
      'an unsubscribe URL of 2,049 bytes',
      { ...body, unsubscribe: { url: 'x'.repeat(2049) } },
      ['/unsubscribe/url unsubscribe-length'],
    ],
    ['a test flag of another type', { ...body, isTest: 'yes' }, ['/isTest type']],
    [
      'a version of the template of 65 bytes',
      { ...body, templateVersion: 'x'.repeat(65) },
      ['/templateVersion template-version-length'],
    ],
    ['a permission to repeat of another type', { ...body, allowRepeat: 1 }, ['/allowRepeat type']],
    ['variables that are a list', { ...body, variables: [] }, ['/variables type']],
    ['half a character in a value (U14)', { ...body, variables: { name: 'a\ud83d' } }, ['/variables/name malformed-unicode']],
    ['half a character in a name', { ...body, variables: { 'a\ud83d': 1 } }, ['/variables/a\ud83d malformed-unicode']],
    ['a number beyond a double', { ...body, variables: { n: Infinity } }, ['/variables/n number-range']],
    ['nine levels', { ...body, variables: { deep: nested(9) } }, ['/variables/deep variable-depth']],
    [
      '100,000 levels',
      { ...body, variables: json(`{"deep":${'['.repeat(1e5)}${']'.repeat(1e5)}}`) },
      ['/variables/deep variable-depth'],
    ],
    ['a name that sets a prototype', { ...body, variables: json('{"__proto__":1}') }, ['/variables/__proto__ reserved-name']],
    ['a nested one', { ...body, variables: json('{"a":{"__proto__":1}}') }, ['/variables/a reserved-name']],
    [
      'own variables of more than 4 KB',
      withRecipient({ variables: { a: 'x'.repeat(4090) } }),
      ['/recipients/0/variables own-variables-size a-1'],
    ],
    [
      'shared variables of more than 64 KB',
      { ...body, variables: { a: 'é'.repeat(32_768) } },
      ['/variables shared-variables-size'],
    ],
  ])('refuses %s', (_name, value, expected) => {
    expect(faults(parse(value))).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['an id of 128 bytes', withRecipient({ applyId: 'é'.repeat(64) })],
    ['eight levels', { ...body, variables: { deep: nested(8) } }],
    ['own variables of exactly 4 KB', withRecipient({ variables: { a: 'x'.repeat(4096 - '{"a":""}'.length) } })],
    ['a subject of emoji, Hangul and right-to-left text', { ...body, subject: '😀 면접 שלום' }],
  ])('takes %s', (_name, value) => {
    expect(faults(parse(value))).toEqual([]);
  });

  it('refuses an applyId that an earlier recipient has (A6)', () => {
    const recipients = [recipient, { ...recipient, email: 'lee@example.com' }];

    expect(faults(parse({ ...body, recipients }))).toEqual(['/recipients/1/applyId duplicate-apply-id a-1']);
  });

  it('refuses 1 beside "1"', () => {
    const recipients = [
      { ...recipient, applyId: 1 },
      { ...recipient, applyId: '1' },
    ];

    expect(faults(parse({ ...body, recipients }))).toEqual(['/recipients/1/applyId duplicate-apply-id 1']);
  });
});

describe('faults', () => {
  it('are all found at once, each with its place and applyId (U15)', () => {
    const recipients = [
      recipient,
      { applyId: 'a-2', email: 'x' },
      { applyId: 'a-3', email: 'lee@example.com', variables: 'x', age: 3 },
    ];

    expect(faults(parse({ recruitId: '', recipients }))).toEqual([
      '/scenarioId required',
      '/recruitId id-length',
      '/recipients/1/email email-address a-2',
      '/recipients/2/variables type a-3',
      '/recipients/2/age unknown-field a-3',
    ]);
  });

  it('are listed up to 100 and counted beyond', () => {
    const recipients = Array.from({ length: 1_000 }, (_, i) => ({ applyId: i, email: 'x' }));

    const parsed = parse({ ...body, recipients });

    expect(parsed).toMatchObject({ ok: false, total: 1_000 });
    expect(faults(parsed)).toHaveLength(100);
  });

  it('of more than 50,000 recipients are that alone, and no recipient is looked at (A6)', () => {
    const recipients = Array.from({ length: 50_001 }, () => ({}));

    expect(faults(parse({ ...body, recipients }))).toEqual(['/recipients too-many-recipients']);
  });

  it('escape names in their pointers', () => {
    expect(faults(parse({ ...body, variables: { 'a/b~c': Infinity } }))).toEqual(['/variables/a~1b~0c number-range']);
  });

  it('never hold a value', () => {
    const secret = 'kim.secret@example.com';
    const value = {
      scenarioId: { secret },
      recruitId: `${secret}\n`,
      subject: `${secret}\n`,
      recipients: [{ applyId: 'a', email: secret.replace('@', ' ') }],
    };

    expect(JSON.stringify(parse(value))).not.toContain('secret');
  });

  it('are what any JSON comes to, never an exception', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, row) => {
        expect(parse(value).ok).toBe(false);
        expect(() => parse({ ...body, recipients: [row], variables: value })).not.toThrow();
      }),
    );
  });
});

describe('the sound part of a request with faults', () => {
  const sound = (value: unknown) => {
    const parsed = parse(value);
    return parsed.ok ? undefined : parsed.sound;
  };

  it('has the recipients without fault, and where each of them stands', () => {
    const recipients = [
      { ...recipient, email: 'kim' },
      { ...recipient, applyId: 'a-2' },
      'lee',
      { ...recipient, applyId: 'a-3' },
    ];

    const found = sound({ ...body, recipients, subject: 'Hello' });

    expect(found?.places).toEqual([1, 3]);
    expect(found?.request.recipients.map(({ applyId }) => applyId)).toEqual(['a-2', 'a-3']);
    expect(found?.request).toMatchObject({ scenarioId: 'interview', subject: 'Hello' });
  });

  it('is absent if another field is at fault', () => {
    expect(sound({ ...body, subject: 'a\nb' })).toBeUndefined();
  });
});
