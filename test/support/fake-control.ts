import type { SendingRepository, SweepStates } from '../../lambda/application/ports/control.ts';
import type { DispatchRepository } from '../../lambda/application/ports/dispatches.ts';
import type { Dispatch, DispatchStatus } from '../../lambda/domain/dispatch/dispatch.ts';
import type { Stop } from '../../lambda/domain/dispatch/stop-rule.ts';
import { ATTEMPTS_EXHAUSTED } from '../../lambda/domain/recipient/recipient.ts';
import { SENDING, type Sending } from '../../lambda/domain/sending/pause.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import { aDispatch, DISPATCH_ID } from './builders.ts';
import type { FakeRecipients } from './fakes.ts';

/** Whether the account may send, in memory. */
export interface FakeSending extends SendingRepository, SweepStates {
  state: Sending;
  lastPass: Instant | undefined;
  newest: Instant | undefined;
  round: Instant | undefined;
  roundProgress: Instant | undefined;
  /** True: the table gives no answer. */
  outage: boolean;
}

export const createFakeSending = (): FakeSending => {
  const fake: FakeSending = {
    state: SENDING,
    lastPass: undefined,
    newest: undefined,
    round: undefined,
    roundProgress: undefined,
    outage: false,
    read: () => Promise.resolve(fake.outage ? 'unavailable' : fake.state),
    change: (next) => {
      const prevails = !fake.outage && next.version === fake.state.version + 1;
      if (prevails) fake.state = next;
      return Promise.resolve(prevails);
    },
    lastPassAt: () => Promise.resolve(fake.outage ? 'unavailable' : fake.lastPass),
    passed: (at) => {
      fake.lastPass = at;
      fake.round = undefined;
      fake.roundProgress = undefined;
      return Promise.resolve();
    },
    openRound: () => Promise.resolve(fake.round),
    roundProgressAt: () => Promise.resolve(fake.roundProgress),
    keepRound: (since, progressAt) => {
      fake.round = since;
      fake.roundProgress = progressAt ?? fake.roundProgress;
      return Promise.resolve();
    },
    newestSent: (seen) => {
      if (seen !== undefined) fake.newest = Math.max(fake.newest ?? 0, seen);
      return Promise.resolve(fake.newest);
    },
  };
  return fake;
};

/** Dispatches in memory, over the recipients that are there. */
export interface FakeDispatches extends DispatchRepository {
  readonly set: (dispatchId: string, changes: Partial<Dispatch>) => void;
  readonly get: (dispatchId: string) => Dispatch | undefined;
  readonly stops: Stop[];
  /** How often all rows were counted. */
  counted: number;
}

export const createFakeDispatches = (recipients: FakeRecipients): FakeDispatches => {
  const table = new Map<string, Dispatch>([[DISPATCH_ID, aDispatch()]]);
  const refused = new Map<string, number>();
  const isSending = (status: DispatchStatus | undefined) => status === 'ACCEPTED' || status === 'IN_PROGRESS';

  const fake: FakeDispatches = {
    stops: [],
    counted: 0,
    get: (dispatchId) => table.get(dispatchId),
    set: (dispatchId, changes) => table.set(dispatchId, aDispatch({ ...table.get(dispatchId), dispatchId, ...changes })),
    status: (dispatchId) => Promise.resolve(table.get(dispatchId)?.status ?? 'unknown-dispatch'),
    addRefused: (dispatchId, count) => {
      const dispatch = table.get(dispatchId);
      if (dispatch === undefined || !isSending(dispatch.status)) return Promise.resolve(undefined);
      const sum = (refused.get(dispatchId) ?? 0) + count;
      refused.set(dispatchId, sum);
      return Promise.resolve({ refused: sum, dispatch });
    },
    finalRows: ({ resumedAt = 0 }) => {
      fake.counted += 1;
      const rows = recipients.all().map(({ recipient }) => recipient);
      const failed = rows.flatMap((row) =>
        row.status === 'FAILED' && row.lastErrorCode !== ATTEMPTS_EXHAUSTED && row.failedAt >= resumedAt ? [row] : [],
      );
      return Promise.resolve({
        final: rows.filter(({ status }) => status !== 'PENDING' && status !== 'PROCESSING').length,
        refused: failed.length,
        codes: new Set(failed.map(({ lastErrorCode }) => lastErrorCode)),
        since: failed.length === 0 ? undefined : Math.min(...failed.map(({ failedAt }) => failedAt)),
      });
    },
    stop: ({ dispatchId }, stop) => {
      const dispatch = table.get(dispatchId);
      if (dispatch === undefined || !isSending(dispatch.status)) return Promise.resolve(false);
      fake.stops.push(stop);
      fake.set(dispatchId, { status: 'STOPPED', failureReason: stop.reason });
      return Promise.resolve(true);
    },
  };
  return fake;
};
