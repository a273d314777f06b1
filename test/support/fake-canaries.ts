import type { CanaryRepository, CanaryResult } from '../../lambda/application/ports/control.ts';
import type { QuotaRoom } from '../../lambda/application/send/rate/quota-room.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';

/** The control item of canaries, in memory. */
export interface FakeCanaries extends CanaryRepository {
  result: CanaryResult | undefined;
  bookedAt: Instant | undefined;
  readonly environments: Map<string, Instant>;
}

export const createFakeCanaries = (): FakeCanaries => {
  const fake: FakeCanaries = {
    result: undefined,
    bookedAt: undefined,
    environments: new Map(),
    newest: () => Promise.resolve(fake.result),
    book: (now, apartSeconds) => {
      const isFree = fake.bookedAt === undefined || fake.bookedAt <= now - apartSeconds * 1000;
      if (isFree) fake.bookedAt = now;
      return Promise.resolve(isFree);
    },
    record: (result) => {
      if (fake.result === undefined || fake.result.beganAt < result.beganAt) fake.result = result;
      return Promise.resolve();
    },
    noteCredentials: (environment, now) => {
      fake.environments.set(environment, now);
      return Promise.resolve([...fake.environments.values()].filter((at) => now - at < 300_000).length);
    },
  };
  return fake;
};

/** What SES says of the quota, as told. */
export interface FakeQuota extends QuotaRoom {
  room: boolean | undefined;
  asked: number;
}

export const createFakeQuota = (): FakeQuota => {
  const fake: FakeQuota = {
    room: true,
    asked: 0,
    hasRoom: () => {
      fake.asked += 1;
      return Promise.resolve(fake.room);
    },
  };
  return fake;
};
