/** SES takes header values of 995 characters, and the URL stands between brackets. */
const LONGEST_URL = 990;

/** Text for a header: a line break in a value must not begin another header. */
export const headerText = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** Text for a body: control characters other than tab and line breaks are not allowed in mails. */
export const bodyText = (text: string): string => text.replace(/[^\P{Cc}\t\n\r]/gu, '');

/** The https URL of RFC 8058, in ASCII and without a character that could end it in its header; undefined if it is none. */
export const unsubscribeUrl = (text: string): string | undefined => {
  // The URL parser would drop them silently and join what they part.
  if (/[\p{Cc}\u2028\u2029]/u.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isWeb = url.protocol === 'https:' && url.hostname !== '' && url.username === '' && url.password === '';
  return isWeb && url.href.length <= LONGEST_URL && /^[\x21\x23-\x3b\x3d\x3f-\x7e]+$/.test(url.href) ? url.href : undefined;
};
