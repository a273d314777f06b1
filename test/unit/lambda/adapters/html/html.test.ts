import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type Html, html, type HtmlValue, json, render } from '../../../../../lambda/adapters/html/html.ts';

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '</cwdb-action><cwdb-action action="call" endpoint="arn:aws:lambda:x">{}',
  '" onclick="alert(1)',
  "' onmouseover='alert(1)",
  '&lt;script&gt;',
  '${alert(1)}',
];

/** What a browser reads. */
const decoded = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#96;', '`')
    .replaceAll('&amp;', '&');

/** By another name: a formatter turns quotes in what it knows as HTML. */
const single = html;

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom(...HOSTILE));

describe('a value in HTML', () => {
  it('is text between tags and in attributes, whatever is in it', () => {
    fc.assert(
      fc.property(anyText, anyText, (inAttribute, inText) => {
        const text = render(html`<p title="${inAttribute}">${inText}</p>`);

        const [, attribute, content] = /^<p title="([^"<>]*)">([^<>]*)<\/p>$/.exec(text) ?? [];
        expect(decoded(attribute ?? '')).toBe(inAttribute);
        expect(decoded(content ?? '')).toBe(inText);
      }),
    );
  });

  it.each(HOSTILE)('makes no tag and no attribute: %s', (value) => {
    expect(render(html`<b class="${value}">${value}</b>`).match(/<[^>]*>/g)).toHaveLength(2);
  });

  it('is kept as it is when it is HTML, and joined when it is a list', () => {
    const rows = [1, 2].map((n) => html`<i>${n}</i>`);

    expect(render(html`<p>${rows}${'&'}${['<', html`<i></i>`]}</p>`)).toBe('<p><i>1</i><i>2</i>&amp;&lt;<i></i></p>');
  });

  it('is nothing when there is none', () => {
    expect(render(html`<p>${undefined}${false}${[]}</p>`)).toBe('<p></p>');
    expect(render(html`<p>${0}</p>`)).toBe('<p>0</p>');
  });

  it('passes for HTML only if it is: data of the same shape does not', () => {
    const forged = { kind: 'html', text: '<script>' } as Html;

    expect(() => render(html`<p>${forged}</p>`)).toThrow(TypeError);
  });

  it.each<[string, (value: HtmlValue) => Html]>([
    ['an attribute without quotes', (value) => html`<p title=${value}></p>`],
    ['a tag', (value) => html`<p ${value}></p>`],
    ['the name of a tag', (value) => html`<${value}></p>`],
    ['an attribute in single quotes', (value) => single`<p title='${value}'></p>`],
    [
      'a style sheet',
      (value) =>
        html`<style>
          ${value}
        </style>`,
    ],
    [
      'a script',
      (value) =>
        html`<script>
          ${value};
        </script>`,
    ],
  ])('cannot stand in %s', (_, make) => {
    expect(() => make('x')).toThrow(TypeError);
  });

  it('stands in its place after tags, attributes and other values', () => {
    expect(render(html`<p title="a > b" class="${'x'}">"${'y'}" ${'z'}<i></i></p>`)).toBe(
      '<p title="a > b" class="x">"y" z<i></i></p>',
    );
  });

  it('is no HTML in an attribute', () => {
    expect(() => html`<p title="${html`<b></b>`}"></p>`).toThrow(TypeError);
  });
});

describe('JSON as content', () => {
  it('is read back as it was, by whoever decodes HTML and by whoever does not', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const text = render(html`<cwdb-action>${json({ value })}</cwdb-action>`);

        const [, content = ''] = /^<cwdb-action>([^<>&]*)<\/cwdb-action>$/.exec(text) ?? [];
        expect(JSON.parse(content)).toEqual({ value });
        expect(JSON.parse(decoded(content))).toEqual({ value });
      }),
    );
  });
});
