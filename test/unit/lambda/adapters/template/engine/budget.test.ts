import { describe, expect, it } from 'vitest';

import { createCheckContent } from '../../../../../../lambda/adapters/template/content/check-content.ts';
import { createMailRenderer } from '../../../../../../lambda/adapters/template/content/mail-renderer.ts';
import { createRenderSamples } from '../../../../../../lambda/adapters/template/content/render-samples.ts';
import type { DispatchContent, TemplateParts, Variables } from '../../../../../../lambda/domain/dispatch/content.ts';

const MAIL_BYTES = 1_000_000;
const check = createCheckContent(MAIL_BYTES);
const recipientInput = (variables: Variables = {}) => ({ applyId: 'a-1', email: 'kim@example.com', variables });
const content = (template: Partial<TemplateParts>, variables: Variables = {}): DispatchContent => ({
  template: { subject: 'Hello', text: 'Hello', ...template },
  variables,
  from: 'jobs@example.com',
});
const codeOf = (of: DispatchContent, variables?: Variables): string => {
  const result = createMailRenderer(MAIL_BYTES).render('d-1', of, recipientInput(variables));
  return result.ok ? 'rendered' : result.code;
};

const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('a template that costs too much', () => {
  const loops = content(
    { text: '{{#each big}}{{#each @root.big}}{{#each @root.big}}{{/each}}{{/each}}{{/each}}' },
    { big: numbers(10_000) },
  );
  const copies = content(
    { text: '{{#*inline "p"}}{{/inline}}{{#each big}}{{> p @root x=1}}{{/each}}' },
    { big: numbers(5_000), ...Object.fromEntries(numbers(3_000).map((i) => [`v${i}`, i])) },
  );

  it('gives no samples in a preview', () => {
    expect(createRenderSamples(MAIL_BYTES)(loops, [recipientInput()]).mails).toEqual([]);
  });

  it('by partials that copy the variables is stopped by what is copied', () => {
    expect(codeOf(copies)).toBe('TOO_MANY_STEPS');
  });

  it.each<[string, string]>([
    ['blocks after one another', '{{#if a}}{{/if}}'.repeat(30_000)],
    ['branches', `{{#if a}}${'{{else if a}}'.repeat(30_000)}{{/if}}`],
    ['a path', `{{${'a.'.repeat(200_000)}a}}`],
  ])('to parse is refused before it is parsed, within half a second: %s', (_name, text) => {
    const startedAt = performance.now();

    expect(check(content({ text }), [recipientInput()])).toMatchObject({
      faults: [{ part: 'text', rule: 'template-too-complex' }],
    });
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});

describe('a mail', () => {
  const ofBytes = (n: number): DispatchContent => content({ subject: 'Hello', html: '', text: 'x'.repeat(n - 5) });

  it('of the limit is fine, and one of a byte more is not', () => {
    expect([MAIL_BYTES, MAIL_BYTES + 1].map((n) => check(ofBytes(n), [recipientInput()]).outcome)).toEqual([
      'fine',
      'cannot-render',
    ]);
    expect([MAIL_BYTES, MAIL_BYTES + 1].map((n) => codeOf(ofBytes(n)))).toEqual(['rendered', 'MAIL_TOO_LARGE']);
  });

  it('is measured in UTF-8, after it was escaped, and all parts together', () => {
    const of = { ...content({ subject: '김', html: '{{a}}', text: '{{a}}' }), unsubscribeUrl: 'https://example.com' };
    // 3 of the subject, 5 and 1 of the ampersand, 19 of the URL.
    expect(createMailRenderer(28).render('d-1', of, recipientInput({ a: '&' }))).toMatchObject({ ok: true });
    expect(createMailRenderer(27).render('d-1', of, recipientInput({ a: '&' }))).toEqual({ ok: false, code: 'MAIL_TOO_LARGE' });
  });

  it('that is too large for one recipient alone is found beyond the first 20, and names the limit', () => {
    const recipients = numbers(40).map((i) => ({
      ...recipientInput({ name: i === 30 ? 'x'.repeat(4_000) : 'Kim' }),
      applyId: `a-${i}`,
    }));

    expect(check(content({ text: '{{name}}'.repeat(300) }), recipients)).toEqual({
      outcome: 'cannot-render',
      total: 1,
      faults: [{ index: 30, applyId: 'a-30', rule: 'mail-too-large', limit: MAIL_BYTES }],
    });
  });

  it('whose list is long for one recipient alone is found beyond the first 20, also where no name is in the loop', () => {
    const recipients = numbers(40).map((i) => ({ ...recipientInput({ big: numbers(i === 30 ? 1_000 : 2) }), applyId: `a-${i}` }));

    expect(check(content({ text: '{{#each big}}{{#each @root.big}}{{/each}}{{/each}}' }), recipients)).toMatchObject({
      total: 1,
      faults: [{ index: 30, rule: 'too-many-steps', limit: 100_000 }],
    });
  });

  it('of an honest kind is far from the limits: 500 rows of ten cells', () => {
    const rows = numbers(500).map((i) => Object.fromEntries(numbers(10).map((cell) => [`c${cell}`, `${i}`])));
    const cells = numbers(10)
      .map((cell) => `<td>{{c${cell}}}</td>`)
      .join('');

    expect(codeOf(content({ html: `<table>{{#each rows}}<tr>${cells}</tr>{{/each}}</table>` }), { rows })).toBe('rendered');
  });
});

describe('a template that comes with a request', () => {
  it('and was accepted before such templates were restricted is rendered within the limits', () => {
    expect(codeOf({ ...content({}), subject: '{{#each list}}{{this}}{{/each}}' }, { list: ['a', 'b'] })).toBe('rendered');
  });
});
