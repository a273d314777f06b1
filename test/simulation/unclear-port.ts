import { ledgerKey } from '../../lambda/adapters/dynamo/recipient/unclear-ledger.ts';
import type { UnclearLedger, WalkRepository } from '../../lambda/application/ports/control.ts';
import type { UnclearAttempt } from '../../lambda/domain/recipient/unclear.ts';
import type { PortDeps } from './ports.ts';
import type { Process } from './scheduler.ts';
import { valueOf, valueOr } from './table-access.ts';

/** Small, so that a walk over a few attempts already has several pages. */
const PAGE = 2;

export const nameOfUnclear = (attempt: Pick<UnclearAttempt, 'key' | 'lease' | 'dueAt'>): string => ledgerKey(attempt).sk;

/** The ledger of unclear attempts in the table. */
export const createLedgerPort = ({ table, access, scheduler, sabotage }: PortDeps, process: () => Process): UnclearLedger => {
  const { items } = table.unclear;
  const put = (attempt: Pick<UnclearAttempt, 'key' | 'lease' | 'dueAt'>): boolean => {
    const isOver = attempt.dueAt <= scheduler.now() + process().host.skewMs;
    if (sabotage === 'expired-leases-not-noted' && isOver) return true;
    if (!items.has(nameOfUnclear(attempt))) items.set(nameOfUnclear(attempt), attempt);
    return true;
  };
  return {
    add: (attempts) =>
      Promise.all(
        attempts.map(async (attempt) => {
          const answer = access.ask(process(), `note ${attempt.key.applyId} ${attempt.lease}`, () => put(attempt));
          return valueOr(await answer.catch(() => ({ answered: false }) as const), false);
        }),
      ),

    async *due(now, after) {
      let position = after ?? '';
      for (;;) {
        const effect = () =>
          [...items.keys()]
            .toSorted()
            .filter((name) => name > position && (items.get(name)?.dueAt ?? Infinity) <= now)
            .slice(0, PAGE)
            .map((name) => ({ name, item: items.get(name) }));
        const page = valueOf(await access.ask(process(), 'due', effect));
        if (page.length === 0) return;
        position = page.at(-1)?.name ?? position;
        if (sabotage === 'removed-before-verdict') for (const { name } of page) items.delete(name);
        const found = page.flatMap(({ item }) => item ?? []);
        yield {
          items: sabotage === 'redelivery-not-awaited' ? found.map((item) => ({ ...item, silentAt: 0 })) : found,
          unreadable: 0,
          position,
        };
      }
    },

    async note(attempt) {
      const effect = () => items.has(nameOfUnclear(attempt)) && items.set(nameOfUnclear(attempt), attempt).size > 0;
      valueOf(await access.ask(process(), `noted ${attempt.key.applyId} ${attempt.lease}`, effect));
    },

    async remove(attempt) {
      const effect = () => items.delete(nameOfUnclear(attempt));
      valueOf(await access.ask(process(), `remove ${attempt.key.applyId} ${attempt.lease}`, effect));
    },

    size: async () => valueOf(await access.ask(process(), 'size of the ledger', () => items.size)),
  };
};

/** The control item of the walks. */
export const createWalkPort = ({ table, access }: PortDeps, process: () => Process): WalkRepository => {
  const { unclear } = table;
  const update = async (what: string, effect: () => boolean): Promise<boolean> =>
    valueOf(await access.ask(process(), what, effect));
  return {
    read: async () => valueOf(await access.ask(process(), 'read walks', () => unclear.state)),
    moveClock: ({ seconds, movedAt, canaries }, was) =>
      update(`clock ${seconds}`, () => {
        if (unclear.state.movedAt !== was.movedAt) return false;
        unclear.state = { ...unclear.state, seconds, canaries, ...(movedAt !== undefined && { movedAt }) };
        return true;
      }),
    async keepPosition(position) {
      await update(`position ${position ?? 'none'}`, () => {
        const { seconds, movedAt, canaries } = unclear.state;
        const clock = { seconds, canaries, ...(movedAt !== undefined && { movedAt }) };
        unclear.state = position === undefined ? clock : { ...clock, position };
        return true;
      });
    },
    bookCanary: (now, apartSeconds) =>
      update('book canary', () => {
        if (unclear.canaryBookedAt > now - apartSeconds * 1000) return false;
        unclear.canaryBookedAt = now;
        return true;
      }),
    async keepCanaries(canaries) {
      await update('keep canaries', () => {
        unclear.state = { ...unclear.state, canaries };
        return true;
      });
    },
  };
};
