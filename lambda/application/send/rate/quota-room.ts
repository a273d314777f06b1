import { type Account, usedShareOf } from '../../../domain/sending/account.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import type { AccountRepository } from '../../ports/control.ts';
import type { Clock } from '../../ports/system.ts';
import type { RefreshAccount } from './refresh-account.ts';

/** Whether the account may send more mails within 24 hours. */
export interface QuotaRoom {
  /** By what SES said after an instant; undefined: it has not said. */
  hasRoom(since: Instant): Promise<boolean | undefined>;
}

export interface QuotaRoomDeps {
  readonly accounts: Pick<AccountRepository, 'read'>;
  readonly refresh: RefreshAccount;
  readonly clock: Clock;
}

/** An older answer is asked for anew: the window moves on all the time, and the sweeper may not pass. */
const CURRENT_MS = 60_000;

export const createQuotaRoom = ({ accounts, refresh, clock }: QuotaRoomDeps): QuotaRoom => ({
  async hasRoom(since) {
    const stored = await accounts.read();
    const known = stored === 'unavailable' ? undefined : stored;
    const isCurrent = known !== undefined && known.fetchedAt > Math.max(since, clock() - CURRENT_MS);
    const account = isCurrent ? known : ((await refresh()) ?? known);
    return account === undefined || account.fetchedAt <= since ? undefined : isOpen(account);
  },
});

const isOpen = (account: Account): boolean => account.sendingEnabled && (usedShareOf(account) ?? 0) < 1;
