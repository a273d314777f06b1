/** A piece of HTML that {@link html} made. Nothing else can make one, so no data can pass for it. */
export interface Html {
  readonly kind: 'html';
}

/** `undefined` and `false` read as nothing. */
export type HtmlValue = string | number | Html | undefined | false | readonly HtmlValue[];

/** What each piece reads as. */
const TEXTS = new WeakMap<Html, string>();

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

const escape = (text: string): string => text.replaceAll(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');

const piece = (text: string): Html => {
  const made: Html = { kind: 'html' };
  TEXTS.set(made, text);
  return made;
};

/** The text of a piece. */
export const render = (made: Html): string => {
  const text = TEXTS.get(made);
  if (text === undefined) throw new TypeError('not a piece of HTML');
  return text;
};

/** JSON as the content of an element. What HTML could read anything into is written as JSON's own escapes. */
export const json = (value: Readonly<Record<string, string>>): Html =>
  piece(
    JSON.stringify(value).replaceAll(
      /[<>&'`\u007f-\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );

/**
 * Joins constant HTML and values. A value is text, whatever is in it: between tags, or in an attribute's double quotes. A
 * list is joined, and a piece of HTML between tags is taken as it is.
 */
export const html = (constant: TemplateStringsArray, ...values: readonly HtmlValue[]): Html => {
  let place: Place = 'text';
  let text = '';
  for (const [i, part] of constant.entries()) {
    text += part;
    if (i === values.length) break;
    place = placeAfter(part, place);
    text += write(values[i], place);
  }
  return piece(text);
};

type Place = 'text' | 'tag' | 'attribute' | 'raw';

/** Where a value would stand after this much constant HTML. */
const placeAfter = (part: string, from: Place): Place => {
  let place = from;
  for (const [found] of part.matchAll(/<(?:style|script)\b|["<>]/gi)) {
    if (place === 'raw') continue;
    if (place === 'attribute') place = found === '"' ? 'tag' : place;
    else if (place === 'tag') place = found === '"' ? 'attribute' : found === '>' ? 'text' : place;
    else if (found.startsWith('<')) place = found === '<' ? 'tag' : 'raw';
  }
  return place;
};

const write = (value: HtmlValue, place: Place): string => {
  if (place === 'tag' || place === 'raw') throw new TypeError('a value may stand between tags or in double quotes only');
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escape(String(value));
  if (isPiece(value)) {
    if (place === 'attribute') throw new TypeError('an attribute holds text, no HTML');
    return render(value);
  }
  return value.map((each) => write(each, place)).join('');
};

const isPiece = (value: Html | readonly HtmlValue[]): value is Html => 'kind' in value;
