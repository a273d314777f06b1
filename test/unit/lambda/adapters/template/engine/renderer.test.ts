import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { InvalidContent } from '../../../../../../lambda/adapters/template/content/compile-content.ts';
import { RenderFault } from '../../../../../../lambda/adapters/template/engine/render-fault.ts';
import { createRenderer } from '../../../../../../lambda/adapters/template/engine/renderer.ts';
import type { DispatchContent, JsonValue, TemplateParts, Variables } from '../../../../../../lambda/domain/dispatch/content.ts';

const content = (template: Partial<TemplateParts>, more: Partial<DispatchContent> = {}): DispatchContent => ({
  template: { subject: 'Hello', text: 'Hello', ...template },
  variables: {},
  from: 'jobs@example.com',
  ...more,
});
const render = (of: DispatchContent, variables: Variables = {}) =>
  createRenderer(1_000_000).compile(of).render({ applyId: 'a-1', email: 'kim@example.com', variables });
const caught = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

describe('a value', () => {
  const template = { subject: '{{name}}', html: '<p title="{{name}}">{{name}}</p>', text: '{{name}}' };

  it.each([
    ['<img src=x onerror=alert(1)>', '&lt;img src&#x3D;x onerror&#x3D;alert(1)&gt;'],
    ['Kim & Lee', 'Kim &amp; Lee'],
    [`"O'Neill"`, '&quot;O&#x27;Neill&quot;'],
  ])('%s is escaped in HTML and literal in text and subject (S12)', (name, escaped) => {
    expect(render(content(template), { name })).toEqual({
      subject: name,
      html: `<p title="${escaped}">${escaped}</p>`,
      text: name,
    });
  });

  it.each([['{{company}}'], ['{{{company}}}'], ['{{#if x}}'], ['{{> p}}'], ['{{'], ['\\{{company}}']])(
    '%s stays what it is',
    (name) => {
      const mail = render(content({ subject: '{{name}}', text: '{{name}}' }, { variables: { company: 'Acme' } }), { name });

      expect(mail).toEqual({ subject: name, text: name });
    },
  );

  it('never becomes a template, whatever it is and wherever it goes', () => {
    const all = content(
      {
        subject: 's {{v}}',
        html: '{{{v}}}',
        text: '{{#if v}}{{v}}{{/if}}{{#each list}}{{this}}{{/each}}{{lookup map "k"}}{{#with map}}{{k}}{{/with}}',
      },
      { variables: { secret: 'SECRET' } },
    );
    const renderer = createRenderer(1_000_000).compile(all);
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom('{{secret}}', '{{{secret}}}', '{{lookup this "secret"}}', '{{#with secret}}{{this}}{{/with}}'),
    );
    fc.assert(
      fc.property(value, (v) => {
        const mail = renderer.render({
          applyId: 'a',
          email: 'a@example.com',
          variables: { v: `x${v}`, list: [v], map: { k: v } },
        });
        expect(JSON.stringify(mail)).not.toContain('SECRET');
      }),
    );
  });

  it('that looks like a parsed template is not run', () => {
    const program = { type: 'Program', body: [{ type: 'ContentStatement', value: 'RUN', original: 'RUN' }] };
    const of = content({ text: '{{> (lookup . "name")}}' });

    expect(caught(() => render(of, { name: program }))).toBeInstanceOf(RenderFault);
  });

  it('of the recipient wins over a shared one of the same name, even null', () => {
    const of = content({ text: '{{name}}|{{note}}' }, { variables: { name: 'shared', note: 'shared' } });

    expect(render(of, { name: 'own', note: null }).text).toBe('own|');
  });
});

describe('a header (S13)', () => {
  it.each([
    ['CR LF', 'Kim\r\nBcc: lee@example.com', 'Kim Bcc: lee@example.com'],
    ['LF', 'Kim\nLee', 'Kim Lee'],
    ['NUL', 'Kim\0Lee', 'Kim Lee'],
    ['U+2028', 'Kim\u2028Lee', 'Kim Lee'],
    ['a C1 control', 'Kim\u0085Lee', 'Kim Lee'],
  ])('loses %s', (_name, name, subject) => {
    expect(render(content({ subject: '{{name}}' }), { name }).subject).toBe(subject);
  });

  it.each([['😀👩‍👩‍👧'], ['면접 안내'], ['שלום עולם'], ['x'.repeat(998)]])('keeps %s', (subject) => {
    expect(render(content({ subject: '{{subject}}' }), { subject }).subject).toBe(subject);
  });

  it('never contains a control character, whatever the values', () => {
    const of = content({ subject: 'To {{name}}' }, { unsubscribeUrl: 'https://example.com/{{name}}?q={{name}}#{{name}}' });
    const renderer = createRenderer(1_000_000).compile(of);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        try {
          const { subject, unsubscribeUrl } = renderer.render({ applyId: 'a', email: 'a@example.com', variables: { name } });
          expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
          expect(unsubscribeUrl).toMatch(/^https:\/\/[\x21-\x7e]+$/);
          expect(unsubscribeUrl).not.toMatch(/[<>"]/);
        } catch (error) {
          expect(error).toBeInstanceOf(RenderFault);
        }
      }),
    );
  });

  it('overrides the subject of the template', () => {
    expect(render(content({ subject: '{{unused}}' }, { subject: 'For {{name}}' }), { name: 'Kim' }).subject).toBe('For Kim');
  });
});

describe('a body', () => {
  it('keeps tabs and line breaks, and loses other control characters', () => {
    expect(render(content({ text: 'a\t{{v}}\r\nb', html: '{{v}}' }), { v: '1\0\u0007\n2' })).toMatchObject({
      text: 'a\t1\n2\r\nb',
      html: '1\n2',
    });
  });

  it('may have conditions, loops, inline partials and ways up', () => {
    const text =
      '{{#*inline "row"}}- {{title}} {{/inline}}{{#if note}}{{note}}{{else}}no note{{/if}}: {{#each items}}{{@index}}{{> row}}({{../company}}){{/each}}';
    const items: JsonValue = [{ title: 'a' }, { title: 'b' }];

    expect(render(content({ text }, { variables: { company: 'Acme' } }), { items }).text).toBe('no note: 0- a (Acme)1- b (Acme)');
  });
});

describe('an unsubscribe URL', () => {
  it.each([
    ['https://example.com/u?id={{id}}', 'a b<c>', 'https://example.com/u?id=a%20b%3Cc%3E'],
    ['{{id}}', 'https://例え.example/ü', 'https://xn--r8jz45g.example/%C3%BC'],
  ])('%s with %s becomes ASCII that cannot end early', (unsubscribeUrl, id, expected) => {
    expect(render(content({}, { unsubscribeUrl }), { id }).unsubscribeUrl).toBe(expected);
  });

  it.each([
    ['http://example.com'],
    ['mailto:u@example.com'],
    ['javascript:alert(1)'],
    ['example.com'],
    ['https://user:pw@example.com'],
    ['https://a\nb.example'],
    [`https://example.com/${'x'.repeat(1000)}`],
    ['https://a b/'],
  ])('is a fault when it comes out as %s', (url) => {
    expect(caught(() => render(content({}, { unsubscribeUrl: '{{url}}' }), { url }))).toMatchObject({ rule: 'unsubscribe-url' });
  });
});

describe('a fault', () => {
  it.each<[string, DispatchContent, Variables, object]>([
    ['a missing variable', content({ text: '{{name}}' }), {}, { code: 'MISSING_VARIABLE', variable: 'name' }],
    [
      'one missing in a block',
      content({ text: '{{#each list}}{{name}}{{/each}}' }),
      { list: [{}] },
      { code: 'MISSING_VARIABLE', variable: 'name' },
    ],
    ['the applyId, unless it is given', content({ text: '{{applyId}}' }), {}, { code: 'MISSING_VARIABLE', variable: 'applyId' }],
    ['the address, unless it is given', content({ text: '{{email}}' }), {}, { code: 'MISSING_VARIABLE', variable: 'email' }],
    [
      'a name that every object has',
      content({ text: '{{constructor}}' }),
      {},
      { code: 'MISSING_VARIABLE', variable: 'constructor' },
    ],
    [
      'a name that every prototype has',
      content({ text: '{{__proto__}}' }),
      {},
      { code: 'MISSING_VARIABLE', variable: '__proto__' },
    ],
    ['an empty subject', content({ subject: '{{name}}' }), { name: ' \n' }, { code: 'SUBJECT_EMPTY' }],
    ['a subject of 999 characters', content({ subject: '{{name}}' }), { name: 'x'.repeat(999) }, { code: 'SUBJECT_TOO_LONG' }],
    [
      'a partial that calls itself',
      content({ text: '{{#*inline "p"}}{{> p}}{{/inline}}{{> p}}' }),
      {},
      { code: 'NESTED_TOO_DEEP', limit: 200 },
    ],
  ])('is %s', (_name, of, variables, expected) => {
    const error = caught(() => render(of, variables));

    expect(error).toBeInstanceOf(RenderFault);
    expect(error).toMatchObject(expected);
  });

  it.each([
    ['{{#with v}}{{x}}{{/with}}'],
    ['{{#each list}}{{x.y}}{{/each}}'],
    ['{{v.x.y}}'],
    ['{{#each list}}{{x}}{{/each}}'],
    ['{{> (lookup . "v")}}'],
  ])('of %s holds no value', (text) => {
    const error = caught(() => render(content({ text }), { v: 'SECRET', list: ['SECRET'] }));

    expect(error).toBeInstanceOf(RenderFault);
    expect(`${String(error)}${JSON.stringify(error)}${error instanceof Error ? error.message : ''}`).not.toContain('SECRET');
  });
});

describe('a template is not valid', () => {
  it.each<[string, DispatchContent, object[]]>([
    ['when it cannot be parsed', content({ html: '<p>\n{{#if x}}' }), [{ part: 'html', rule: 'template-syntax', line: 2 }]],
    [
      'with a helper that does not exist',
      content({ text: '{{upper name}}' }),
      [{ part: 'text', rule: 'unknown-helper', name: 'upper' }],
    ],
    [
      'when it would write values to the log',
      content({ text: '{{log name}}' }),
      [{ part: 'text', rule: 'unknown-helper', name: 'log' }],
    ],
    [
      'with a block that does not exist',
      content({ text: '{{#list items}}{{/list}}' }),
      [{ part: 'text', rule: 'unknown-helper', name: 'list' }],
    ],
    [
      'with a decorator that does not exist',
      content({ text: '{{#*foo "x"}}{{/foo}}' }),
      [{ part: 'text', rule: 'unknown-helper', name: 'foo' }],
    ],
    ['without a subject', content({ subject: '' }), [{ part: 'subject', rule: 'no-subject' }]],
    ['without a body', { template: { subject: 's' }, variables: {}, from: 'a@example.com' }, [{ part: 'html', rule: 'no-body' }]],
    [
      'in several parts at once',
      content({ subject: '{{', text: '{{x y}}' }, { unsubscribeUrl: '{{#each}}' }),
      [
        { part: 'subject', rule: 'template-syntax', line: 1 },
        { part: 'text', rule: 'unknown-helper', name: 'x' },
        { part: 'unsubscribe', rule: 'template-syntax', line: 1 },
      ],
    ],
  ])('%s', (_name, of, faults) => {
    const error = caught(() => createRenderer(1_000_000).compile(of));

    expect(error).toBeInstanceOf(InvalidContent);
    expect(error).toMatchObject({ faults });
  });
});
