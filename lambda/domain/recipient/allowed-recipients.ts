/** Whether this stage may mail an address. */
export type IsAllowedRecipient = (address: string) => boolean;

/** Why a recipient failed to whom this stage may not send, whatever it was allowed at accept. */
export const RECIPIENT_NOT_ALLOWED = 'RECIPIENT_NOT_ALLOWED';

/** AWS's mailbox simulator: nobody reads what is sent there, so every stage may mail it. */
const SIMULATOR = 'simulator.amazonses.com';

/**
 * Makes the rule of a stage. ASCII letters are compared without regard to case, in local parts too.
 * @param allowed in punycode: addresses, domains (without their sub-domains), `*.domain` (sub-domains at any depth, without
 *   the domain itself), or `*` for everybody
 */
export const createIsAllowedRecipient = (allowed: readonly string[]): IsAllowedRecipient => {
  if (allowed.includes('*')) return () => true;
  const entries = [...allowed, SIMULATOR].map((entry) => entry.toLowerCase());
  const exact = new Set(entries);
  const parents = entries.filter((entry) => entry.startsWith('*.')).map((entry) => entry.slice(1));
  return (address) => {
    const lower = address.toLowerCase();
    const domain = lower.slice(lower.lastIndexOf('@') + 1);
    return (
      exact.has(lower) || exact.has(domain) || parents.some((parent) => domain.endsWith(parent) && domain !== parent.slice(1))
    );
  };
};
