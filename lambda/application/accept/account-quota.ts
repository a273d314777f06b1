import type { AccountQuota } from '../../domain/dispatch/send-estimate.ts';
import { type Account, quotaOf } from '../../domain/sending/account.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { AccountRepository } from '../ports/control.ts';
import type { Clock } from '../ports/system.ts';

export interface AccountQuotaDeps {
  readonly accounts: Pick<AccountRepository, 'read'>;
  /** Mails per second; 0: what the account allows. */
  readonly maxSendRate: number;
  /** The part of the account's rate that this service uses. */
  readonly rateShare: number;
  readonly clock: Clock;
}

/** How long what was read serves. */
const KEPT_MS = 5_000;

/** What the account item allows an estimate to say; undefined: nothing. SES itself is never asked here. */
export const createAccountQuota = ({
  accounts,
  clock,
  ...limits
}: AccountQuotaDeps): (() => Promise<AccountQuota | undefined>) => {
  let read: Promise<Account | undefined> = Promise.resolve(undefined);
  let readAgainAt: Instant = 0;

  return async () => {
    if (clock() >= readAgainAt) {
      readAgainAt = clock() + KEPT_MS;
      read = accounts.read().then(
        (found) => (found === 'unavailable' ? undefined : found),
        () => undefined,
      );
    }
    return quotaOf(await read, limits, clock());
  };
};
