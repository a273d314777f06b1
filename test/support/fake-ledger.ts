import type { UnclearLedger, WalkRepository, WalkState } from '../../lambda/application/ports/control.ts';
import type { UnclearAttempt } from '../../lambda/domain/recipient/unclear.ts';

/** The ledger of unclear attempts and the item of its walks, in memory. */
export interface FakeLedger extends UnclearLedger {
  readonly items: Map<string, UnclearAttempt>;
  readonly walks: WalkRepository & { state: WalkState };
  /** True: the table gives no answer. */
  outage: boolean;
}

const nameOf = ({ key, lease, dueAt }: Pick<UnclearAttempt, 'key' | 'lease' | 'dueAt'>): string =>
  `${dueAt}#${key.dispatchId}#${key.shard}#${key.applyId}#${lease}`;

/** @param pageSize how many a page holds */
export const createFakeLedger = (pageSize = 25): FakeLedger => {
  let canaryBookedAt = -Infinity;
  const answer = <T>(value: T): Promise<T> =>
    fake.outage ? Promise.reject(new Error('the table does not answer')) : Promise.resolve(value);
  const fake: FakeLedger = {
    items: new Map(),
    outage: false,
    add: (attempts) => {
      if (!fake.outage)
        for (const attempt of attempts) if (!fake.items.has(nameOf(attempt))) fake.items.set(nameOf(attempt), attempt);
      return Promise.resolve(attempts.map(() => !fake.outage));
    },
    async *due(now, after) {
      await answer(undefined);
      const names = [...fake.items.keys()].toSorted().filter((name) => after === undefined || name > after);
      const due = names.flatMap((name) => fake.items.get(name) ?? []).filter(({ dueAt }) => dueAt <= now);
      for (let from = 0; from < due.length; from += pageSize) {
        const items = due.slice(from, from + pageSize);
        yield {
          items,
          unreadable: 0,
          position: nameOf(items.at(-1) ?? { key: { dispatchId: '', shard: 0, applyId: '' }, lease: '', dueAt: 0 }),
        };
      }
    },
    note: (attempt) => {
      if (fake.items.has(nameOf(attempt))) fake.items.set(nameOf(attempt), attempt);
      return answer(undefined);
    },
    remove: (attempt) => {
      if (!fake.outage) fake.items.delete(nameOf(attempt));
      return answer(undefined);
    },
    size: () => answer(fake.items.size),
    walks: {
      state: { seconds: 0, canaries: [] },
      read: () => answer(fake.walks.state),
      moveClock: (next, was) => {
        if (fake.walks.state.movedAt !== was.movedAt) return answer(false);
        fake.walks.state = { ...fake.walks.state, ...next };
        return answer(true);
      },
      keepPosition: (position) => {
        const { seconds, movedAt, canaries } = fake.walks.state;
        fake.walks.state = {
          seconds,
          canaries,
          ...(movedAt !== undefined && { movedAt }),
          ...(position !== undefined && { position }),
        };
        return answer(undefined);
      },
      bookCanary: (now, apartSeconds) => {
        const isFree = canaryBookedAt + apartSeconds * 1000 <= now;
        if (isFree) canaryBookedAt = now;
        return answer(isFree);
      },
      keepCanaries: (canaries) => {
        fake.walks.state = { ...fake.walks.state, canaries };
        return answer(undefined);
      },
    },
  };
  return fake;
};
