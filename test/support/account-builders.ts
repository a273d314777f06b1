import type { AccountRepository, SesReadBudget } from '../../lambda/application/ports/control.ts';
import type { AccountSource } from '../../lambda/application/ports/provider.ts';
import type { Clock } from '../../lambda/application/ports/system.ts';
import type { Account } from '../../lambda/domain/sending/account.ts';
import { bookSlot, freshSeconds, NO_READS, type SesReadKind, type SesReads } from '../../lambda/domain/sending/ses-reads.ts';
import { T0 } from './clock.ts';

export const anAccount = (more: Partial<Account> = {}): Account => ({
  rate: 14,
  perDay: 50_000,
  sentLastDay: 1_200,
  sendingEnabled: true,
  fetchedAt: T0,
  ...more,
});

/** The budget in memory. */
export interface FakeBudget extends SesReadBudget {
  reads: SesReads;
  readonly booked: { readonly kind: SesReadKind; readonly at: number }[];
}

export const createFakeBudget = (clock: Clock): FakeBudget => {
  const fake: FakeBudget = {
    reads: NO_READS,
    booked: [],
    book: (kind, template) => {
      const booking = bookSlot(fake.reads, kind, clock(), template);
      if (!booking.isBooked) return Promise.resolve(booking);
      fake.reads = booking.next;
      fake.booked.push({ kind, at: booking.at });
      return Promise.resolve({ isBooked: true, at: booking.at, freshSeconds: freshSeconds(booking.next) });
    },
  };
  return fake;
};

/** The account item in memory. */
export interface FakeAccounts extends AccountRepository {
  stored: Account | undefined;
  /** True: the table gives no answer. */
  outage: boolean;
  reads: number;
}

export const createFakeAccounts = (stored?: Account): FakeAccounts => {
  const fake: FakeAccounts = {
    stored,
    outage: false,
    reads: 0,
    read: () => {
      fake.reads += 1;
      return Promise.resolve(fake.outage ? 'unavailable' : fake.stored);
    },
    store: (account) => {
      if (account.fetchedAt > (fake.stored?.fetchedAt ?? 0)) fake.stored = account;
      return Promise.resolve();
    },
  };
  return fake;
};

/** SES's GetAccount by a script. */
export interface FakeAccountSource extends AccountSource {
  /** When each call began. */
  readonly askedAt: number[];
  answer: () => Promise<Account>;
}

export const createFakeAccountSource = (clock: Clock, rate = 14): FakeAccountSource => {
  const fake: FakeAccountSource = {
    askedAt: [],
    answer: () => Promise.resolve(anAccount({ rate })),
    ask: () => {
      fake.askedAt.push(clock());
      return fake.answer();
    },
  };
  return fake;
};
