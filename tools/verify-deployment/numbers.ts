/** What SES says of the account, as far as numbers of mails depend on it. */
export interface AccountFacts {
  /** False: the account is in the sandbox. */
  readonly production: boolean;
  readonly sendingEnabled: boolean;
  /** SES's word: `HEALTHY`, `PROBATION` or `SHUTDOWN`. */
  readonly enforcement: string;
  /** Mails per second. */
  readonly rate: number;
  /** Mails per 24 hours; -1: no limit. */
  readonly perDay: number;
  readonly sentToday: number;
}

/** How many mails the checks send, and how long that may take. */
export interface Numbers {
  /** Recipients of the middle dispatch. */
  readonly many: number;
  /** Mails of the quota of 24 hours that are left; Infinity without a limit. */
  readonly room: number;
  /** Seconds after which so many mails must be sent. */
  readonly secondsToSend: (mails: number) => number;
}

const MOST = 100;
const LEAST = 10;
/** The middle dispatch takes no longer than this at the account's rate. */
const SECONDS_OF_MANY = 60;
/** A stage uses less than the whole rate, and other applications use some of it. */
const SHARE = 0.45;

/** Mails that the account may still send in its window of 24 hours. */
export const roomOf = ({ perDay, sentToday }: Pick<AccountFacts, 'perDay' | 'sentToday'>): number =>
  perDay < 0 ? Infinity : Math.max(0, perDay - sentToday);

/**
 * Fits the checks to the account. Mails to the simulator do not count against the quota of 24 hours, but half of what is left
 * of it is never exceeded all the same.
 */
export const scaleTo = (facts: AccountFacts, waitSeconds: number): Numbers => {
  const room = roomOf(facts);
  const byRate = Math.max(LEAST, Math.floor(facts.rate * SECONDS_OF_MANY * 0.9));
  const byRoom = Math.max(1, Math.floor(room / 2));
  return {
    many: Math.min(MOST, byRate, byRoom),
    room,
    secondsToSend: (mails) => waitSeconds + Math.ceil(mails / Math.max(0.1, facts.rate * SHARE)),
  };
};
