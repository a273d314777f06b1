/** The bare address and the domain of a From address such as `Recruiting <no-reply@example.com>`. */
export interface Mailbox {
  readonly address: string;
  readonly domain: string;
}

const BARE = /^[^\s@<>"(),:;]+@([^\s@<>"(),:;]+)$/;

/** Takes `a@b` or `Name <a@b>` apart; undefined if it is neither. */
export const parseMailbox = (text: string): Mailbox | undefined => {
  const address = (/^[^<>]*<([^<>]+)>$/.exec(text.trim())?.[1] ?? text).trim();
  const domain = BARE.exec(address)?.[1];
  return domain === undefined ? undefined : { address, domain };
};
