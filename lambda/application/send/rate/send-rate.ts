import { type Account, needsRefresh, sendRateOf } from '../../../domain/sending/account.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import type { AccountRepository } from '../../ports/control.ts';
import type { Clock, Sleep } from '../../ports/system.ts';
import type { RefreshAccount } from './refresh-account.ts';

/** The rate that the senders share. */
export interface SendRate {
  /** Mails per second. */
  readonly perSecond: number;
  /** True while nobody has read the account: the true rate may be much higher, and is known soon. */
  readonly isGuess: boolean;
}

export interface SendRateDeps {
  readonly accounts: Pick<AccountRepository, 'read'>;
  readonly refresh: RefreshAccount;
  /** Mails per second; 0: what the account allows. */
  readonly maxSendRate: number;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

/** How long what was read serves; while there is nothing, the next look comes sooner. */
const KEPT_MS = 10_000;
const KEPT_NOTHING_MS = 1_000;
/** How long messages in hand may wait for SES to describe the account. */
const LONGEST_WAIT_MS = 2_000;

/** Reads the rate from the account item. SES is asked only if that item is missing or old. The function never throws. */
export const createSendRate = ({ accounts, refresh, maxSendRate, clock, sleep }: SendRateDeps): (() => Promise<SendRate>) => {
  let known: Account | undefined;
  let lookAgainAt: Instant = 0;
  let refreshing: Promise<unknown> | undefined;

  const keep = (account: Account | undefined): void => {
    if (account !== undefined && account.fetchedAt >= (known?.fetchedAt ?? 0)) known = account;
  };

  const beginRefresh = (): Promise<unknown> => {
    refreshing ??= refresh()
      .then(keep)
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  };

  const look = async (): Promise<void> => {
    const found = await accounts.read().catch(() => 'unavailable' as const);
    if (found !== 'unavailable') keep(found);
    if (known === undefined) await Promise.race([beginRefresh(), sleep(LONGEST_WAIT_MS)]);
    // No message waits for this one: the old rate serves meanwhile.
    else if (needsRefresh(known, clock())) void beginRefresh();
    lookAgainAt = clock() + (known === undefined ? KEPT_NOTHING_MS : KEPT_MS);
  };

  let looking: Promise<void> | undefined;
  return async () => {
    if (clock() >= lookAgainAt) {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      await looking;
    }
    return { perSecond: sendRateOf(known, maxSendRate), isGuess: known === undefined };
  };
};
