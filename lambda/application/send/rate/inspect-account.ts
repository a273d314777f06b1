import { type Account, isOutdated } from '../../../domain/sending/account.ts';
import type { AccountRepository } from '../../ports/control.ts';
import type { Clock } from '../../ports/system.ts';
import type { RefreshAccount } from './refresh-account.ts';

export interface InspectAccountDeps {
  readonly refresh: RefreshAccount;
  readonly accounts: Pick<AccountRepository, 'read'>;
  readonly clock: Clock;
}

/** How the account item stands after an attempt to renew it. */
export interface AccountReport {
  /** The answer of SES; undefined: there was none, or another function asked a moment ago. */
  readonly fetched: Account | undefined;
  /** Too old to promise anything from it, or missing; undefined: the table did not answer. */
  readonly isOutdated: boolean | undefined;
}

/** Renews the account item, and reports whether it is recent enough. Never throws. */
export const createInspectAccount =
  ({ refresh, accounts, clock }: InspectAccountDeps) =>
  async (): Promise<AccountReport> => {
    const fetched = await refresh();
    const found = fetched ?? (await accounts.read().catch(() => 'unavailable' as const));
    return { fetched, isOutdated: found === 'unavailable' ? undefined : isOutdated(found, clock()) };
  };
