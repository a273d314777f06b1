/** Anything in a text that looks like an address. */
const ADDRESS = /([^\s@<>])[^\s@<>]*@([^\s@<>]+)/gu;

/** A text that may hold an address: each is shortened to its first letter and its domain, `k…@example.com`. */
export const maskAddresses = (text: string): string => text.replaceAll(ADDRESS, '$1…@$2');

/** The same for a text that is an address as a whole, whatever is in it. */
export const maskAddress = (address: string): string => address.replace(/^(.?).*(@[^@]*)$/su, '$1…$2');
