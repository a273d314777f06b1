import { QUOTA_EXCEEDED, RATE_EXCEEDED, type Refusal } from './refusal.ts';

const DAY_MS = 86_400_000;

/** How much the account may send. */
export interface AccountLimits {
  readonly perSecond: number;
  readonly perDay: number;
}

/** The sending account: counts what it sends and refuses what is too much. */
export const createAccount = (initial: AccountLimits, now: () => number) => {
  let limits = initial;
  let tokens = initial.perSecond;
  let filledAt = now();
  const sent: number[] = [];

  const sentLastDay = (): number => {
    const since = now() - DAY_MS;
    while (sent[0] !== undefined && sent[0] < since) sent.shift();
    return sent.length;
  };
  return {
    /** Sets other limits from now on. */
    limit: (changed: Partial<AccountLimits>) => {
      limits = { ...limits, ...changed };
      tokens = Math.min(tokens, limits.perSecond);
    },
    /** Counts recipients that were sent to, at a time in the past or now. */
    count: (recipients: number, at: number) => {
      for (let n = 0; n < recipients; n += 1) sent.push(at);
    },
    /** Takes what a call to so many recipients needs, or says why not. */
    take: (recipients: number): Refusal | undefined => {
      if (sentLastDay() >= limits.perDay) return QUOTA_EXCEEDED;
      // A burst of one second's worth; as in SES, a call passes if any is left and the next ones wait for it.
      tokens = Math.min(limits.perSecond, tokens + ((now() - filledAt) / 1000) * limits.perSecond);
      filledAt = now();
      if (tokens < 1) return RATE_EXCEEDED;
      tokens -= recipients;
      return undefined;
    },
    /** The answer of GetAccount. */
    describe: () => ({
      EnforcementStatus: 'HEALTHY',
      ProductionAccessEnabled: true,
      SendingEnabled: true,
      SendQuota: { Max24HourSend: limits.perDay, MaxSendRate: limits.perSecond, SentLast24Hours: sentLastDay() },
    }),
  };
};

/** The account behind one gate. */
export type Account = ReturnType<typeof createAccount>;
