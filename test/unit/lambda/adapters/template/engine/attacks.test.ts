import { describe, expect, it } from 'vitest';

import { createCheckContent } from '../../../../../../lambda/adapters/template/content/check-content.ts';
import { createMailRenderer } from '../../../../../../lambda/adapters/template/content/mail-renderer.ts';
import type { DispatchContent, TemplateParts, Variables } from '../../../../../../lambda/domain/dispatch/content.ts';

const MOST_BYTES = 1_000_000;
const MEGABYTE = 1_048_576;

/** As much as shared variables may hold. */
const VARIABLES: Variables = {
  list: Array.from({ length: 9_000 }, (_, i) => i % 10),
  big: 'x'.repeat(40_000),
  controls: '\u0007'.repeat(6_000),
  amp: '&'.repeat(5_000),
  yes: true,
};

const content = (template: Partial<TemplateParts>, rest: Partial<DispatchContent> = {}): DispatchContent => ({
  template: { subject: 'Hello', text: 'Hello', ...template },
  variables: VARIABLES,
  from: 'jobs@example.com',
  ...rest,
});
const somebody = { applyId: 'a-1', email: 'kim@example.com', variables: {} };
const nested = (n: number, before: string, inside: string, after: string): string => before.repeat(n) + inside + after.repeat(n);

/** Each partial calls the one before it twice. */
const doubling = (): string => {
  const partials = Array.from({ length: 50 }, (_, i) => `{{#*inline "p${i + 1}"}}{{> p${i}}}{{> p${i}}}{{/inline}}`);
  return `{{#*inline "p0"}}x{{/inline}}${partials.join('')}{{> p50}}`;
};

/** Templates stored in SES. Each would cost seconds to hours, or gigabytes. */
const STORED: readonly (readonly [string, Partial<TemplateParts>, string])[] = [
  ['loops in loops', { text: nested(4, '{{#each @root.list}}', '', '{{/each}}') }, 'too-many-steps'],
  ['loops in loops in the subject', { subject: nested(3, '{{#each @root.list}}', '', '{{/each}}') }, 'too-many-steps'],
  ['a long text for each item of a list', { html: '{{#each list}}{{@root.big}}{{/each}}' }, 'mail-too-large'],
  ['output that grows fivefold by being escaped', { html: '{{#each list}}{{@root.amp}}{{/each}}' }, 'mail-too-large'],
  ['a list printed for each of its items', { text: '{{#each list}}{{@root.list}}{{/each}}' }, 'mail-too-large'],
  ['a partial that calls itself', { text: '{{#*inline "p"}}{{> p}}{{/inline}}{{> p}}' }, 'nested-too-deep'],
  ['a partial that calls itself twice', { text: '{{#*inline "p"}}{{> p}}{{> p}}{{/inline}}{{> p}}' }, 'nested-too-deep'],
  ['partials that double fifty times', { text: doubling() }, 'too-many-steps'],
  [
    'lookups in loops',
    { text: '{{#each list}}{{#each @root.list}}{{lookup @root.list this}}{{/each}}{{/each}}' },
    'too-many-steps',
  ],
  [
    'lookups by a list',
    { text: '{{#each list}}{{#each @root.list}}{{#if (lookup @root @root.list)}}{{/if}}{{/each}}{{/each}}' },
    'too-many-steps',
  ],
  ['sections in sections', { text: nested(4, '{{#@root.list}}', '', '{{/@root.list}}') }, 'too-many-steps'],
  [
    'an indented partial that calls itself',
    { text: '{{#*inline "p"}}a\n{{#if @root.yes}}\n    {{> p}}\n{{/if}}\n{{/inline}}\n  {{> p}}\n' },
    'nested-too-deep',
  ],
  ['control characters that are taken out later', { subject: 'Hi {{#each list}}{{@root.controls}}{{/each}}' }, 'mail-too-large'],
];

describe('a stored template with', () => {
  it.each(STORED)(
    '%s is refused at accept, and fails this mail alone in the sender',
    { timeout: 10_000 },
    (_, template, rule) => {
      const before = process.memoryUsage().rss;

      const checked = createCheckContent(MOST_BYTES)(content(template), [somebody]);
      const rendered = createMailRenderer(MOST_BYTES).render('d-1', content(template), somebody);

      expect(checked).toMatchObject({ outcome: 'cannot-render', total: 1, faults: [{ rule }] });
      expect(rendered).toEqual({ ok: false, code: rule.toUpperCase().replaceAll('-', '_') });
      expect((process.memoryUsage().rss - before) / MEGABYTE).toBeLessThan(200);
    },
  );

  it.each([
    ['blocks nested too deep for the parser', nested(20_000, '{{#if yes}}', '', '{{/if}}')],
    ['very many placeholders', '{{yes}}'.repeat(30_000)],
    ['very long tags', `{{#if (lookup ${'yes '.repeat(30_000)})}}{{/if}}`],
    ['very many parentheses', `{{#if ${'(lookup '.repeat(500)}yes${' 1)'.repeat(500)}}}{{/if}}`],
  ])('%s is refused before it is parsed', { timeout: 10_000 }, (_, text) => {
    expect(createCheckContent(MOST_BYTES)(content({ text }), [somebody])).toMatchObject({
      outcome: 'invalid-template',
      faults: [{ part: 'text', rule: 'template-too-complex' }],
    });
    expect(createMailRenderer(MOST_BYTES).render('d-1', content({ text }), somebody)).toEqual({
      ok: false,
      code: 'INVALID_TEMPLATE',
    });
  });
});

describe('a mail', () => {
  it('of as many bytes as allowed is rendered, and one more is too large', () => {
    const text = 'é'.repeat(400_000);
    const render = (bytes: number) => createMailRenderer(bytes).render('d-1', content({ text }), somebody);

    expect(render('Hello'.length + 800_000)).toMatchObject({ ok: true });
    expect(render('Hello'.length + 799_999)).toEqual({ ok: false, code: 'MAIL_TOO_LARGE' });
  });
});

describe('a template that comes with the request', () => {
  it.each([
    ['a loop', '{{#each list}}x{{/each}}'],
    ['a section', '{{#list}}x{{/list}}'],
    ['an inverted section', '{{^list}}x{{/list}}'],
    ['a partial', '{{#*inline "p"}}x{{/inline}}{{> p}}'],
    ['a lookup', '{{lookup list 0}}'],
    ['another context', '{{#with list}}x{{/with}}'],
    ['a value from the root', '{{@root.yes}}'],
    ['a value that is not escaped', '{{{yes}}}'],
    ['a comment', '{{! note }}'],
    ['fifty partials that double', doubling()],
  ])('may not hold %s', (_, source) => {
    const rule = 'names-and-conditions-only';
    expect(createCheckContent(MOST_BYTES)(content({}, { subject: source }), [somebody])).toEqual({
      outcome: 'invalid-template',
      faults: [{ part: 'subject-override', rule }],
    });
    expect(createCheckContent(MOST_BYTES)(content({}, { unsubscribeUrl: `https://x/${source}` }), [somebody])).toEqual({
      outcome: 'invalid-template',
      faults: [{ part: 'unsubscribe', rule }],
    });
  });

  it('may hold names, names of properties, and conditions with both branches', () => {
    const subject = '{{#if yes}}{{big.length}}{{else}}{{big}}{{/if}} {{#if slot.at}}{{slot.at}}{{/if}}!';
    const result = createCheckContent(MOST_BYTES)(content({}, { subject }), [
      { ...somebody, variables: { slot: { at: '10:00' }, big: { length: 3 } } },
    ]);

    expect(result).toEqual({ outcome: 'fine' });
  });
});
