import type { Account } from '../../../domain/sending/account.ts';
import { SLOT_MS } from '../../../domain/sending/ses-reads.ts';
import type { AccountRepository, SesReadBudget } from '../../ports/control.ts';
import type { AccountSource } from '../../ports/provider.ts';
import type { Clock, Sleep } from '../../ports/system.ts';

export interface RefreshAccountDeps {
  readonly budget: Pick<SesReadBudget, 'book'>;
  readonly accounts: Pick<AccountRepository, 'store'>;
  readonly source: AccountSource;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Gets every answer of SES, and every failure. Must not throw. */
  readonly observe: (result: Account | { readonly error: unknown }) => void;
}

/** Asks SES for the account and stores the answer; undefined: another caller does, or SES did not answer. Never throws. */
export type RefreshAccount = () => Promise<Account | undefined>;

/** Reads the account through the budget, which lets one caller in all do it. A failed read leaves the stored item as it is. */
export const createRefreshAccount = (deps: RefreshAccountDeps): RefreshAccount => {
  const { budget, accounts, source, clock, sleep, observe } = deps;

  const refresh = async (): Promise<Account | undefined> => {
    const slot = await budget.book('account');
    if (!slot.isBooked) return undefined;
    await sleep(Math.max(0, slot.at - clock()));
    const fetchedAt = clock();
    // A function frozen meanwhile has missed its slot, which may be another caller's by now.
    if (fetchedAt >= slot.at + SLOT_MS) return undefined;
    const account = { ...(await source.ask()), fetchedAt };
    observe(account);
    await accounts.store(account);
    return account;
  };

  return async () => {
    try {
      return await refresh();
    } catch (error) {
      observe({ error });
      return undefined;
    }
  };
};
