import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createCheckContent } from '../../../../../../lambda/adapters/template/content/check-content.ts';
import { createRenderer } from '../../../../../../lambda/adapters/template/engine/renderer.ts';
import type {
  DispatchContent,
  RecipientInput,
  TemplateParts,
  Variables,
} from '../../../../../../lambda/domain/dispatch/content.ts';

const check = createCheckContent(1_000_000);

const content = (template: Partial<TemplateParts>, variables: Variables = {}): DispatchContent => ({
  template: { subject: 'Hello', text: 'Hello', ...template },
  variables,
  from: 'jobs@example.com',
});
const recipients = (n: number, variables: (i: number) => Variables): RecipientInput[] =>
  Array.from({ length: n }, (_, i) => ({ applyId: `a-${i}`, email: 'kim@example.com', variables: variables(i) }));
const one = (variables: Variables): RecipientInput[] => recipients(1, () => variables);

describe('a check', () => {
  it('names each recipient of whom a variable is missing (S11)', () => {
    const few = recipients(500, (i): Variables => (i === 3 || i === 250 || i === 499 ? {} : { name: 'Kim' }));

    expect(check(content({ html: '<p>{{name}} {{company}}</p>' }, { company: 'Acme' }), few)).toEqual({
      outcome: 'cannot-render',
      total: 3,
      faults: [3, 250, 499].map((index) => ({ index, applyId: `a-${index}`, rule: 'missing-variable', name: 'name' })),
    });
  });

  it('lists the first 20 recipients and counts the others', () => {
    const result = check(
      content({ text: '{{name}}' }),
      recipients(1_000, () => ({})),
    );

    expect(result).toMatchObject({ outcome: 'cannot-render', total: 1_000 });
    expect(result.outcome === 'cannot-render' && result.faults.length).toBe(20);
  });

  it('names all variables that one recipient lacks, once each', () => {
    const result = check(content({ subject: '{{name}}', text: '{{name}} {{company}} {{slot.at}}' }), one({ slot: {} }));

    expect(result.outcome === 'cannot-render' && result.faults.map(({ name }) => name)).toEqual(['name', 'company', 'slot.at']);
  });

  it.each<[string, string, Variables]>([
    ['one that only opens a block', '{{#if note}}{{note}}{{/if}}', {}],
    ['one behind a condition that is not met', '{{#if online}}{{link}}{{else}}{{room}}{{/if}}', { room: '3' }],
    ['one behind `unless`', '{{#unless online}}{{room}}{{/unless}}', { online: true }],
    ['a list that is not there', '{{#each items}}{{title}}{{/each}}', {}],
    ['a name of an item', '{{#each items}}{{title}}{{/each}}', { items: [{ title: 'a' }] }],
    ['one that is null', '{{note}}', { note: null }],
    ['one that is empty', '{{note}}', { note: '' }],
    ['one that is false', '{{note}}', { note: false }],
    ['an item of a list by its number', '{{items.[0]}}', { items: ['a'] }],
    ['one that is looked up', '{{lookup map key}}', { map: {} }],
  ])('does not miss %s', (_name, text, variables) => {
    expect(check(content({ text }), one(variables))).toEqual({ outcome: 'fine' });
  });

  it.each<[string, string, Variables, object]>([
    [
      'one behind a condition that is met',
      '{{#if online}}{{link}}{{/if}}',
      { online: true },
      { rule: 'missing-variable', name: 'link' },
    ],
    [
      'one of an item',
      '{{#each items}}{{title}}{{/each}}',
      { items: [{ title: 'a' }, {}] },
      { rule: 'missing-variable', name: 'title' },
    ],
    [
      'one up from a block',
      '{{#each items}}{{../company}}{{/each}}',
      { items: [1] },
      { rule: 'missing-variable', name: 'company' },
    ],
    ['one of a section', '{{#person}}{{name}}{{/person}}', { person: {} }, { rule: 'missing-variable', name: 'name' }],
    ['one that every object has', '{{toString}}', {}, { rule: 'missing-variable', name: 'toString' }],
    ['one of a nested object', '{{slot.constructor}}', { slot: {} }, { rule: 'missing-variable', name: 'slot.constructor' }],
    ['text where a list of objects is', '{{place}}', { place: [[{}]] }, { rule: 'variable-not-text', name: 'place' }],
    ['text where an object is', '{{place}}', { place: { at: 1 } }, { rule: 'variable-not-text', name: 'place' }],
  ])('misses %s, also beyond the first 20', (_name, text, variables, fault) => {
    const many = recipients(30, (i): Variables => (i === 29 ? variables : COMPLETE));

    expect(check(content({ text }), many)).toEqual({
      outcome: 'cannot-render',
      total: 1,
      faults: [{ index: 29, applyId: 'a-29', ...fault }],
    });
  });
  const COMPLETE: Variables = { company: 'Acme', toString: 'x', person: { name: 'Kim' }, slot: { constructor: 'x' }, place: 'x' };

  it('looks at every subject and unsubscribe URL, since they can fail by their values', () => {
    const of = { ...content({ subject: '{{name}}' }), unsubscribeUrl: '{{url}}' };
    const url = 'https://example.com';
    const many = recipients(40, (i): Variables =>
      i === 30 ? { name: '\n', url } : i === 35 ? { name: 'Kim', url: 'x' } : { name: 'Kim', url },
    );

    expect(check(of, many)).toMatchObject({
      total: 2,
      faults: [
        { index: 30, rule: 'subject-empty' },
        { index: 35, rule: 'unsubscribe-url' },
      ],
    });
  });

  it('says what is wrong with a template before it looks at anybody', () => {
    expect(check(content({ text: '{{#if' }), one({}))).toEqual({
      outcome: 'invalid-template',
      faults: [{ part: 'text', rule: 'template-syntax', line: 1 }],
    });
  });

  it('stops when the mails of all recipients together would take too long', () => {
    const items = Array.from({ length: 900 }, (_, i) => i);
    const many = recipients(50_000, () => ({}));

    expect(
      createCheckContent(1_000_000, 200)(content({ text: '{{#each a}}{{#each @root.a}}{{/each}}{{/each}}' }, { a: items }), many),
    ).toEqual({ outcome: 'too-costly' });
  });

  it('agrees with rendering, for any variables', () => {
    const templates = [
      '{{a}}',
      '{{a.b}} {{c}}',
      '{{#if a}}{{b}}{{else}}{{c}}{{/if}}',
      '{{#each a}}{{b}}{{../c}}{{/each}}',
      '{{#with a}}{{b}}{{/with}}',
      '{{#unless a.b}}{{c}}{{/unless}}',
      '{{#a}}{{b}}{{/a}}{{^c}}{{b}}{{/c}}',
      '{{lookup a "b"}}{{@root.c}}',
    ];
    const leaf = fc.oneof(fc.constant(null), fc.boolean(), fc.constantFrom('', 'x', 0, 1));
    const value = fc.oneof(
      leaf,
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), leaf),
      fc.array(fc.dictionary(fc.constantFrom('b'), leaf), { maxLength: 2 }),
    );
    const variables = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value);
    fc.assert(
      fc.property(fc.constantFrom(...templates), variables, variables, (text, own, shared) => {
        // Beyond the first 20, where only what must be is rendered.
        const first = recipients(20, () => ({ a: 'x', b: 'x', c: 'x' }));
        const own21 = { applyId: 'own', email: 'a@example.com', variables: own };
        const of = content({ text }, shared);
        const refused = totalOf(check(of, [...first, own21])) > totalOf(check(of, first));
        const rendered = renderText(of, own);

        expect(refused).toBe(rendered === undefined || (printsOnly(text) && rendered.includes('[object Object]')));
      }),
      { numRuns: 500 },
    );
  });
});

const totalOf = (result: ReturnType<typeof check>): number => (result.outcome === 'cannot-render' ? result.total : 0);

/** An object where text is wanted is found where no block is around it. */
const printsOnly = (text: string): boolean => /^[^#^@]*$/.test(text);

const renderText = (of: DispatchContent, variables: Variables): string | undefined => {
  try {
    return createRenderer(1_000_000).compile(of).render({ applyId: 'a', email: 'a@example.com', variables }).text;
  } catch {
    return undefined;
  }
};
