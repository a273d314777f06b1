/** A command that a document tells its reader to type. */
export interface DocCommand {
  readonly line: number;
  /** Words as a shell would split them; quotes are gone, variables and substitutions stay as they are. */
  readonly words: readonly string[];
  /** It stands in a sentence, not in a block that is to be run. */
  readonly isInline: boolean;
}

const BEGINS = /(?:^|[\s`(;|])((?:aws|npx cdk|npm run) [a-z])/g;
const ENDS = new Set(['\n', ';', '|', ')', '`', '>', '&']);

/** Reads the words of a command that begins there. A backslash at the end of a line continues it. */
const readWords = (text: string): string[] => {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let i = 0; i < text.length; i += 1) {
    const at = text.charAt(i);
    if (quote !== undefined) {
      if (at === quote) quote = undefined;
      else word = (word ?? '') + at;
    } else if (at === '\\' && text.charAt(i + 1) === '\n') i += 1;
    else if (at === '"' || at === "'") {
      quote = at;
      word ??= '';
    } else if (at === '<' && /^<[^<>\n`]+>/.test(text.slice(i))) {
      // What the reader fills in.
      const [placeholder = ''] = /^<[^<>\n`]+>/.exec(text.slice(i)) ?? [];
      word = (word ?? '') + placeholder;
      i += placeholder.length - 1;
    } else if (ENDS.has(at)) break;
    else if (/\s/.test(at)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + at;
  }
  return word === undefined ? words : [...words, word];
};

/** Blocks and spans of code; everything else of the document is blank, so that places stay. */
const codeOf = (markdown: string): string => {
  const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ');
  let code = '';
  let from = 0;
  for (const match of markdown.matchAll(/^ *```[^\n]*\n[\s\S]*?^ *```|`[^`\n]+`/gm)) {
    code += blank(markdown.slice(from, match.index)) + match[0];
    from = match.index + match[0].length;
  }
  return code + blank(markdown.slice(from));
};

/** Every `aws`, `npx cdk` and `npm run` command in the code of a document, those inside of substitutions too. */
export const commandsIn = (markdown: string): DocCommand[] => {
  const code = codeOf(markdown);
  return [...code.matchAll(BEGINS)].map((match) => {
    const start = match.index + match[0].length - (match[1] ?? '').length;
    const isInline = code.charAt(start - 1) === '`' && code.charAt(start - 2) !== '`';
    return { line: code.slice(0, start).split('\n').length, words: readWords(code.slice(start)), isInline };
  });
};
