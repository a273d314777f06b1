import type { WitnessRepository } from '../../lambda/application/ports.ts';
import type { Instant } from '../../lambda/domain/instant.ts';
import { type Hold, MOST_HOLDS, type Witness } from '../../lambda/domain/witness.ts';

/** The witness's item in memory. */
export interface FakeWitness extends WitnessRepository {
  /** As it is stored. */
  state: Witness;
  /** True: the table gives no answer. */
  outage: boolean;
}

const nameOf = ({ lease, sentAt }: Hold): string => lease ?? `at ${sentAt}`;

export const createFakeWitness = (initial: Partial<Witness> = {}): FakeWitness => {
  let bookedAt: Instant | undefined;
  const fake: FakeWitness = {
    state: { holds: [], canaries: [], ...initial },
    outage: false,
    read: () => Promise.resolve(fake.outage ? 'unavailable' : fake.state),
    bookCanary: (now, apartSeconds) => {
      const isFree = !fake.outage && (bookedAt === undefined || bookedAt + apartSeconds * 1000 <= now);
      if (isFree) bookedAt = now;
      return Promise.resolve(isFree);
    },
    recordCanaries: (canaries) => {
      fake.state = { ...fake.state, canaries };
      return Promise.resolve();
    },
    hold: (holds: readonly Hold[]) => {
      const isThere = (hold: Hold) => fake.state.holds.some((other) => nameOf(other) === nameOf(hold));
      const all = [...fake.state.holds, ...holds.filter((hold) => !isThere(hold))];
      if (fake.outage || all.length > MOST_HOLDS) return Promise.resolve(false);
      fake.state = { ...fake.state, holds: all };
      return Promise.resolve(true);
    },
    release: (leases) => {
      if (fake.outage) return Promise.resolve();
      fake.state = {
        ...fake.state,
        holds: fake.state.holds.filter(({ lease }) => lease === undefined || !leases.includes(lease)),
      };
      return Promise.resolve();
    },
    moveMark: (to) => {
      if (fake.outage) return Promise.resolve();
      fake.state = { ...fake.state, mark: Math.max(fake.state.mark ?? 0, to) };
      return Promise.resolve();
    },
  };
  return fake;
};
