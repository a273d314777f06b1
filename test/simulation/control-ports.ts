import type { CanaryRepository, SendingRepository, SweepStates } from '../../lambda/application/ports/control.ts';
import type { DispatchRepository } from '../../lambda/application/ports/dispatches.ts';
import { type DispatchStatus, isActive } from '../../lambda/domain/dispatch/dispatch.ts';
import { ATTEMPTS_EXHAUSTED, type Recipient } from '../../lambda/domain/recipient/recipient.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import { stopItem } from './dispatch-ports.ts';
import type { PortDeps } from './ports.ts';
import type { Process } from './scheduler.ts';
import type { Table } from './table.ts';
import { valueOf, valueOr } from './table-access.ts';

/** How old the knowledge may be that a dispatch is being sent. */
const ACTIVE_KEPT_MS = 5_000;

/** What a sender asks of dispatches; the memory is that of one environment. */
export const createDispatchPort = (deps: PortDeps, process: () => Process, clock: () => Instant): DispatchRepository => {
  const { table, access } = deps;
  const cache = new Map<string, { readonly status: DispatchStatus; readonly readAt: Instant }>();

  return {
    async status(dispatchId) {
      const kept = cache.get(dispatchId);
      if (kept !== undefined && clock() - kept.readAt < ACTIVE_KEPT_MS) return kept.status;
      cache.delete(dispatchId);
      const readAt = clock();
      const answer = await access.ask(process(), `status ${dispatchId}`, () => table.dispatches.get(dispatchId)?.status);
      if (!answer.answered) return 'unavailable';
      const status = answer.value;
      if (status !== undefined && isActive(status)) cache.set(dispatchId, { status, readAt });
      return status ?? 'unknown-dispatch';
    },

    async addRefused(dispatchId, count) {
      const effect = () => {
        const dispatch = table.dispatches.get(dispatchId);
        if (dispatch === undefined || !['ACCEPTED', 'IN_PROGRESS'].includes(dispatch.status)) return undefined;
        const refused = dispatch.refusedCount + count;
        table.putDispatch({ ...dispatch, refusedCount: refused }, process());
        return { refused, dispatch };
      };
      return valueOf(await access.ask(process(), `refused ${count} of ${dispatchId}`, effect));
    },

    async finalRows({ dispatchId, createdAt, resumedAt }) {
      const from = resumedAt ?? createdAt;
      const rows = valueOf(await access.ask(process(), `final rows of ${dispatchId}`, () => statesOf(table, dispatchId)));
      const ended = rows.filter((row) => (endedAt(row) ?? -Infinity) >= from);
      const refused = ended.flatMap((row) => (row.status === 'FAILED' && row.lastErrorCode !== ATTEMPTS_EXHAUSTED ? [row] : []));
      return {
        final: ended.length,
        refused: refused.length,
        codes: new Set(refused.map(({ lastErrorCode }) => lastErrorCode)),
        since: refused.length === 0 ? undefined : Math.min(...refused.map(({ failedAt }) => failedAt)),
      };
    },

    stop: (dispatch, stop, now) => stopItem(deps, process(), dispatch, stop, now),
  };
};

const statesOf = (table: Table, dispatchId: string): Recipient[] => table.rowsOf(dispatchId).map(({ recipient }) => recipient);

const endedAt = (recipient: Recipient): Instant | undefined => {
  switch (recipient.status) {
    case 'SENT':
      return recipient.sentAt;
    case 'FAILED':
    case 'UNKNOWN':
      return recipient.failedAt;
    case 'PENDING':
    case 'PROCESSING':
    case 'CANCELLED':
      return undefined;
  }
};

/** Whether the account may send. */
export const createSendingPort = ({ table, access, checks, sabotage }: PortDeps, process: () => Process): SendingRepository => ({
  read: async () => {
    const effect = () =>
      sabotage === 'pause-unseen-by-walks' && process().host.role === 'walk' ? { version: table.sending.version } : table.sending;
    return valueOr(await access.ask(process(), 'read sending', effect), 'unavailable');
  },

  async change(next) {
    const effect = (): boolean => {
      const before = table.sending;
      if (next.version !== before.version + 1 && sabotage !== 'pause-overwritten') return false;
      table.sending = next;
      checks.sendingChanged(before, next, process());
      return true;
    };
    return valueOf(await access.ask(process(), `sending: ${next.pause?.by ?? 'no pause'}`, effect));
  },
});

/** What senders tell one another about canaries. */
export const createCanaryPort = ({ table, access }: PortDeps, process: () => Process): CanaryRepository => {
  const { canaries } = table;
  return {
    newest: async () => valueOr(await access.ask(process(), 'newest canary', () => canaries.newest), undefined),
    book: async (now, apartSeconds) => {
      const effect = () => {
        if ((canaries.bookedAt ?? -Infinity) > now - apartSeconds * 1000) return false;
        canaries.bookedAt = now;
        return true;
      };
      return valueOr(await access.ask(process(), 'book canary of the account', effect), false);
    },
    async record(result) {
      const effect = () => {
        if ((canaries.newest?.beganAt ?? -Infinity) < result.beganAt) canaries.newest = result;
      };
      await access.ask(process(), `canary ${result.answer.kind}`, effect);
    },
    noteCredentials: () => Promise.resolve(1),
  };
};

export const createSweepStatesPort = ({ table, access }: PortDeps, process: () => Process): SweepStates => ({
  lastPassAt: async () => valueOr(await access.ask(process(), 'last pass', () => table.lastPassAt), 'unavailable'),
  passed: async (at) => {
    const effect = () => (table.lastPassAt = Math.max(table.lastPassAt ?? 0, at));
    await access.ask(process(), 'passed', effect);
  },
  // A pass never takes longer than its function here.
  openRound: () => Promise.resolve(undefined),
  keepRound: () => Promise.resolve(),
  roundProgressAt: () => Promise.resolve(undefined),
  newestSent: async (seen) => {
    const effect = () => (table.newestSentAt = seen === undefined ? table.newestSentAt : Math.max(table.newestSentAt ?? 0, seen));
    return valueOf(await access.ask(process(), 'newest mail', effect));
  },
});
