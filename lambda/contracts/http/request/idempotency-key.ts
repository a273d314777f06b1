/** A key from the header: `missing`, `invalid`, or its text. */
export type IdempotencyKey =
  { readonly ok: true; readonly key: string } | { readonly ok: false; readonly why: 'missing' | 'invalid' };

const VISIBLE = /^[\x21-\x7e]{1,255}$/;
/** RFC 9651's String, in which only quotes and backslashes are escaped. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/** Reads the header Idempotency-Key. `"abc"` and `abc` are the same key. */
export const parseIdempotencyKey = (header: string | undefined): IdempotencyKey => {
  const text = header?.trim() ?? '';
  if (text === '') return { ok: false, why: 'missing' };
  const key = text.startsWith('"') ? QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, '$1') : text;
  return key !== undefined && VISIBLE.test(key) ? { ok: true, key } : { ok: false, why: 'invalid' };
};
