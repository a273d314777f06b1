/** Something that must be seen in the table and in the mail only. */
export interface Marker {
  readonly kind: 'address' | 'variable' | 'subject';
  readonly value: string;
}

/** Where something was found; what it is stays unsaid, as this goes to the terminal. */
export interface Finding {
  readonly kind: Marker['kind'];
  readonly line: number;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const decodePercent = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Takes off what writers put around characters: JSON's escapes, however often, those of addresses and those of HTML. */
const decode = (text: string): string =>
  text
    .replace(/\\+u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replace(/\\+[nrt]/g, ' ')
    .replace(/\\+(["/])/g, '$1')
    .replace(/(?:%[0-9a-f]{2})+/gi, decodePercent)
    .replace(/&#x([0-9a-f]{1,6});/gi, (_, hex: string) => String.fromCodePoint(Math.min(parseInt(hex, 16), 0x10_ff_ff)))
    .replace(/&#(\d{1,7});/g, (_, digits: string) => String.fromCodePoint(Math.min(Number(digits), 0x10_ff_ff)))
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '');

/** One spelling of all that mean the same; white space and the plus that stands for it do not count. */
const spell = (text: string): string =>
  decode(text)
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s+]+/g, '');

/** What base64 makes of a text wherever in a longer one it begins; without the ends, which depend on the neighbours. */
const inBase64 = (text: string): string[] =>
  [0, 1, 2].flatMap((shift) => {
    const coded = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]).toString('base64url');
    const whole = coded.slice(Math.ceil((shift * 4) / 3), Math.floor(((shift + Buffer.byteLength(text)) * 4) / 3));
    // Shorter ones come up by chance.
    return whole.length >= 8 ? [whole] : [];
  });

/** Anything that ends as an address does, whoever it belongs to. */
const ANY_ADDRESS = /[\p{L}\p{N}._%+-]@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/u;

/** Makes the search for all of these markers, and for addresses of any kind. */
export const createSearch = (markers: readonly Marker[]): ((text: string) => Finding[]) => {
  const needles = new Map<string, Marker['kind']>();
  const coded = new Map<string, Marker['kind']>();
  for (const { kind, value } of markers) {
    needles.set(spell(value), kind);
    for (const each of inBase64(value)) coded.set(each, kind);
  }
  const kindsIn = (text: string): Marker['kind'][] => {
    const spelled = spell(text);
    const base64 = text.replaceAll('+', '-').replaceAll('/', '_');
    return [
      ...[...needles].filter(([needle]) => spelled.includes(needle)).map(([, kind]) => kind),
      ...[...coded].filter(([needle]) => base64.includes(needle)).map(([, kind]) => kind),
      ...(ANY_ADDRESS.test(decode(text)) ? ['address' as const] : []),
    ];
  };
  return (text) => {
    // The whole first: nearly always there is nothing in it.
    if (kindsIn(text).length === 0) return [];
    return text.split('\n').flatMap((each, i) => [...new Set(kindsIn(each))].map((kind) => ({ kind, line: i + 1 })));
  };
};
