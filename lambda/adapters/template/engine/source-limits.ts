/** What may stand between braces, and how often: far more than honest templates have. Parsing takes longer than by line. */
const TAGS = 20_000;
const BLOCKS = 1_000;
const TAG_CHARACTERS = 65_536;
const PARENTHESES = 50;

/** Says before a template is parsed that parsing it would take long: nesting costs time by its square. */
export const isTooComplex = (source: string): boolean => {
  if (count(source, /\{\{/g) > TAGS || count(source, /\{\{\{*~?\s*(?:[#^]|else)/g) > BLOCKS) return true;
  let characters = 0;
  for (const [tag] of source.matchAll(/\{\{(?!~?!)[^]*?(?:\}\}|$)/g)) {
    characters += tag.length;
    if (characters > TAG_CHARACTERS || nesting(tag) > PARENTHESES) return true;
  }
  return false;
};

const count = (source: string, pattern: RegExp): number => {
  let found = 0;
  for (const match of source.matchAll(pattern)) found += match.length > 0 ? 1 : 0;
  return found;
};

const nesting = (tag: string): number => {
  let depth = 0;
  let deepest = 0;
  for (const [sign] of tag.matchAll(/[()]/g)) {
    depth = sign === '(' ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
};
