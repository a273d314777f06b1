import * as z from 'zod';

import { QUOTA_EXCEEDED, RATE_EXCEEDED, type Refusal, SENDING_PAUSED, SUSPENDED } from './faults/refusal.ts';

const DAY_MS = 86_400_000;

/** What an account may do; SES's own words for how it stands with AWS. */
export const AccountChange = z.strictObject({
  perSecond: z.number().positive().exactOptional(),
  perDay: z.number().nonnegative().exactOptional(),
  sendingEnabled: z.boolean().exactOptional(),
  enforcement: z.enum(['HEALTHY', 'PROBATION', 'SHUTDOWN']).exactOptional(),
});
export type AccountChange = z.output<typeof AccountChange>;

/** The sending account: counts what it sends and refuses what is too much. */
export const createAccount = (initial: { readonly perSecond: number; readonly perDay: number }, now: () => number) => {
  let state: Required<AccountChange> = { ...initial, sendingEnabled: true, enforcement: 'HEALTHY' };
  let tokens = initial.perSecond;
  let filledAt = now();
  const sent: number[] = [];

  const sentLastDay = (): number => {
    const since = now() - DAY_MS;
    while (sent[0] !== undefined && sent[0] < since) sent.shift();
    return sent.length;
  };
  const refusal = (counted: number): Refusal | undefined => {
    if (state.enforcement === 'SHUTDOWN') return SUSPENDED;
    if (!state.sendingEnabled) return SENDING_PAUSED;
    return counted > 0 && sentLastDay() >= state.perDay ? QUOTA_EXCEEDED : undefined;
  };
  return {
    /** Is like this from now on. */
    change: (changed: AccountChange) => {
      state = { ...state, ...changed };
      tokens = Math.min(tokens, state.perSecond);
    },
    /** Counts recipients that were sent to, at a time in the past or now. */
    count: (recipients: number, at: number) => {
      for (let n = 0; n < recipients; n += 1) sent.push(at);
    },
    /** Takes what a call to so many recipients needs, or says why not. @param counted those of them that the quota counts */
    take: (recipients: number, counted = recipients): Refusal | undefined => {
      const refused = refusal(counted);
      if (refused) return refused;
      // A burst of one second's worth; as in SES, a call passes if any is left and the next ones wait for it.
      tokens = Math.min(state.perSecond, tokens + ((now() - filledAt) / 1000) * state.perSecond);
      filledAt = now();
      if (tokens < 1) return RATE_EXCEEDED;
      tokens -= recipients;
      return undefined;
    },
    /** The answer of GetAccount. */
    describe: () => ({
      EnforcementStatus: state.enforcement,
      ProductionAccessEnabled: true,
      SendingEnabled: state.sendingEnabled && state.enforcement !== 'SHUTDOWN',
      SendQuota: { Max24HourSend: state.perDay, MaxSendRate: state.perSecond, SentLast24Hours: sentLastDay() },
    }),
  };
};

/** The account behind one gate. */
export type Account = ReturnType<typeof createAccount>;
