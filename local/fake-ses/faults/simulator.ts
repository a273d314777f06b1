/** SES's own mailbox simulator, and what this stack adds to it. */
const SES_SIMULATOR = 'simulator.amazonses.com';
const OWN_SIMULATOR = 'simulator.localhost';

/** An address of a simulator: what it stands for, and the labels after it (`slow+5+a@` has two). */
export interface SimulatedAddress {
  readonly name: string;
  readonly labels: readonly string[];
  /** Whether it is one of those that AWS has, too. */
  readonly isOfSes: boolean;
}

/** Reads an address of a simulator; undefined for any other. */
export const parseSimulated = (address: string): SimulatedAddress | undefined => {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1).toLowerCase();
  if (domain !== SES_SIMULATOR && domain !== OWN_SIMULATOR) return undefined;
  const [name = '', ...labels] = address.slice(0, at).split('+');
  return { name: name.toLowerCase(), labels, isOfSes: domain === SES_SIMULATOR };
};

/** Whether a mail to it counts against the rate only, and not against the quota of 24 hours. */
export const isSimulated = (address: string): boolean => parseSimulated(address) !== undefined;
