import type { FeedbackRepository } from '../../lambda/application/ports/control.ts';
import { type FeedbackState, MOST_UNAPPLIED, type UnappliedEvent } from '../../lambda/domain/sending/watermark.ts';

/** Feedback's control item in memory. */
export interface FakeFeedback extends FeedbackRepository {
  /** As it is stored. */
  state: FeedbackState;
  /** True: the table gives no answer. */
  outage: boolean;
}

const nameOf = ({ lease, sentAt }: UnappliedEvent): string => lease ?? `at ${sentAt}`;

export const createFakeFeedback = (initial: Partial<FeedbackState> = {}): FakeFeedback => {
  const fake: FakeFeedback = {
    state: { unapplied: [], ...initial },
    outage: false,
    read: () => Promise.resolve(fake.outage ? 'unavailable' : fake.state),
    addUnapplied: (events: readonly UnappliedEvent[]) => {
      const isThere = (event: UnappliedEvent) => fake.state.unapplied.some((other) => nameOf(other) === nameOf(event));
      const all = [...fake.state.unapplied, ...events.filter((event) => !isThere(event))];
      if (fake.outage || all.length > MOST_UNAPPLIED) return Promise.resolve(false);
      fake.state = { ...fake.state, unapplied: all };
      return Promise.resolve(true);
    },
    removeUnapplied: (leases) => {
      if (fake.outage) return Promise.resolve();
      fake.state = {
        ...fake.state,
        unapplied: fake.state.unapplied.filter(({ lease }) => lease === undefined || !leases.includes(lease)),
      };
      return Promise.resolve();
    },
    recordBehind: (at) => {
      if (!fake.outage) fake.state = { ...fake.state, behindAt: Math.max(fake.state.behindAt ?? 0, at) };
      return Promise.resolve(!fake.outage);
    },
    moveWatermark: (to) => {
      if (fake.outage) return Promise.resolve();
      fake.state = { ...fake.state, watermark: Math.max(fake.state.watermark ?? 0, to) };
      return Promise.resolve();
    },
  };
  return fake;
};
