import type { Parsed } from './mailbox.ts';
import type { SettingReader } from './setting.ts';

/** Whose tokens the API takes, and from which pages a browser may call it. */
export interface TokenSettings {
  /** Who signs the tokens of the API: exactly the text of their claim `iss`. */
  readonly issuer: string;
  /** A token must name one of them as `aud`, or as `client_id` if it has no `aud`. */
  readonly audience: readonly string[];
  /** What the issuer puts before the names of scopes, such as `mail-dispatch/`. */
  readonly scopePrefix: string;
  /** Origins of pages that may call the API from a browser; none: no page may. */
  readonly allowedOrigins: readonly string[];
}

/** API Gateway takes 64 characters for a scope; `mail:operate` is the longest of ours. */
const LONGEST_PREFIX = 64 - 'mail:operate'.length;
const LONGEST_ISSUER = 2_048;
const MOST_AUDIENCES = 10;
const MOST_ORIGINS = 20;

const ISSUER = 'give the https address of the issuer of your tokens';

/** Reads whose tokens the API takes, and from where. */
export const readTokens = (read: SettingReader): TokenSettings => ({
  issuer: read.parsed('issuer', parseIssuer, ISSUER) ?? '',
  audience: readAudience(read),
  scopePrefix: read.parsed('scopePrefix', parseScopePrefix, undefined) ?? '',
  allowedOrigins: read.list('allowedOrigins', parseOrigin, MOST_ORIGINS) ?? [],
});

const readAudience = (read: SettingReader): readonly string[] => {
  const audience = read.list('audience', parseAudience, MOST_AUDIENCES) ?? ['mail-dispatch'];
  if (audience.length === 0) read.faults.push('audience is empty: give the audience of your tokens');
  return audience;
};

/** Taken as it is: a slash more or less makes another issuer. */
const parseIssuer = (text: string): Parsed<string> => {
  if (!URL.canParse(text) || /\s/.test(text) || text.length > LONGEST_ISSUER) return { ok: false, rule: 'this is no address' };
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'https:' || username !== '' || password !== '' || /[?#]/.test(text))
    return { ok: false, rule: 'it begins with https:// and has no user, query or fragment' };
  if (text.includes('/.well-known/'))
    return { ok: false, rule: 'this is the address of its configuration; give the part before /.well-known/' };
  return { ok: true, value: text };
};

const parseAudience = (text: string): Parsed<string> =>
  /^[\x21-\x7e]{1,256}$/.test(text.trim())
    ? { ok: true, value: text.trim() }
    : { ok: false, rule: 'use 1 to 256 printable ASCII characters without spaces' };

/** RFC 6749 allows these in a scope; lists of scopes reach functions as text with brackets. */
const parseScopePrefix = (text: string): Parsed<string> =>
  text.length <= LONGEST_PREFIX && /^[\x21\x23-\x2b\x2d-\x5a\x5e-\x7e]*$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, rule: `use at most ${LONGEST_PREFIX} printable ASCII characters, no space and none of ",[]\\` };

/** Hosts whose pages come from the machine of the person itself. */
const OWN_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1']);

const isOrigin = (text: string): boolean => {
  if (!URL.canParse(text) || text.includes('*')) return false;
  const { protocol, hostname, origin } = new URL(text);
  return origin === text && (protocol === 'https:' || (protocol === 'http:' && OWN_MACHINE.has(hostname)));
};

/** As browsers write it: scheme, host, and the port unless it is the scheme's own. */
const parseOrigin = (text: string): Parsed<string> => {
  const origin = text.trim();
  return isOrigin(origin)
    ? { ok: true, value: origin }
    : {
        ok: false,
        rule: 'give an origin as browsers send it: https://host or https://host:port, lower case, without a path or a slash at the end; http only for localhost; no *',
      };
};
