import type { Parsed } from './mailbox.ts';

/** Where a setting's value comes from: CDK context, the environment; undefined if nobody gave one. */
export type Lookup = (key: string) => unknown;

/** Name of a setting as an environment variable: `leaseSeconds` is `LEASE_SECONDS`. */
export const environmentName = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

interface Bounds {
  readonly from: number;
  readonly to: number;
  /** @default - whole numbers only */
  readonly fractions?: boolean;
}

/** Reads settings one by one and keeps what is wrong with them, so that all faults are told at once. */
export class SettingReader {
  readonly faults: string[] = [];
  readonly #lookup: Lookup;

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  /** A number; the command line and the environment give it as text. */
  number(key: string, fallback: number, { from, to, fractions = false }: Bounds): number {
    const given = this.#lookup(key);
    if (given === undefined || given === '') return fallback;
    const value = typeof given === 'number' || typeof given === 'string' ? Number(given) : Number.NaN;
    if (value >= from && value <= to && (fractions || Number.isInteger(value))) return value;
    this.faults.push(`${key} must be a ${fractions ? '' : 'whole '}number from ${from} to ${to}, got ${JSON.stringify(given)}`);
    return fallback;
  }

  /** A number that may be left out; undefined: something else decides. */
  optional(key: string, bounds: Bounds): number | undefined {
    const given = this.#lookup(key);
    return given === undefined || given === '' ? undefined : this.number(key, bounds.from, bounds);
  }

  /** A text; without a fallback it must be given, and `toGive` says how. */
  text(key: string, fallback: string | undefined, toGive: string, isGood: (text: string) => boolean = () => true): string {
    const given = this.#lookup(key) ?? fallback;
    if (typeof given === 'string' && isGood(given)) return given;
    this.faults.push(given === undefined ? `${key} is missing: ${toGive}` : `${key} is ${JSON.stringify(given)}: ${toGive}`);
    return '';
  }

  /** Yes or no; the command line gives it as text. Without a fallback it must be given, and `toGive` says how. */
  flag(key: string, fallback: boolean | undefined, toGive: string): boolean {
    const given = this.#lookup(key) ?? fallback;
    if (given === true || given === 'true') return true;
    if (given !== false && given !== 'false')
      this.faults.push(given === undefined ? `${key} is missing: ${toGive}` : `${key} is ${JSON.stringify(given)}: ${toGive}`);
    return false;
  }

  /** One of a few words. */
  oneOf<Word extends string>(key: string, words: readonly [Word, ...Word[]]): Word {
    const given = this.#lookup(key) ?? words[0];
    const found = words.find((word) => word === given);
    if (found === undefined) this.faults.push(`${key} must be one of ${words.join(', ')}, got ${JSON.stringify(given)}`);
    return found ?? words[0];
  }

  /** A text in another form, by a parser that names the rule it breaks; without a value undefined. @param toGive says how, if it must be given */
  parsed<T>(key: string, parse: (text: string) => Parsed<T>, toGive: string | undefined): T | undefined {
    const given = this.#lookup(key);
    if (given === undefined) {
      if (toGive !== undefined) this.faults.push(`${key} is missing: ${toGive}`);
      return undefined;
    }
    const result: Parsed<T> = typeof given === 'string' ? parse(given) : { ok: false, rule: 'give a text' };
    if (result.ok) return result.value;
    const rule = toGive === undefined ? result.rule : `${toGive}; ${result.rule}`;
    this.faults.push(`${key} is ${JSON.stringify(given)}: ${rule}`);
    return undefined;
  }

  /** Several texts: a list in cdk.json, or one text with commas between them. Undefined if nobody gave one. */
  list<T>(key: string, parse: (text: string) => Parsed<T>, most: number): readonly T[] | undefined {
    const given = this.#lookup(key);
    if (given === undefined) return undefined;
    const texts: unknown = typeof given === 'string' ? given.split(',').filter((text) => text.trim() !== '') : given;
    if (!Array.isArray(texts) || texts.length > most) {
      this.faults.push(`${key} must be a list of at most ${most}, got ${JSON.stringify(given)}`);
      return undefined;
    }
    return texts.flatMap((text: unknown) => {
      const result: Parsed<T> = typeof text === 'string' ? parse(text) : { ok: false, rule: 'give a text' };
      if (result.ok) return [result.value];
      this.faults.push(`${key} has ${JSON.stringify(text)}: ${result.rule}`);
      return [];
    });
  }
}
