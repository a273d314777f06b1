import type { Dice } from './dice.ts';
import { isWithin, type Plan } from './plan.ts';
import type { Process, Scheduler } from './scheduler.ts';

/** What became of a request to the table. Unanswered: it may or may not have been carried out. */
export type Answer<T> = { readonly answered: true; readonly value: T } | { readonly answered: false };

/** Stands for an error of a client that does not pass by itself. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** Requests to the table, with all that can happen to them on the way. */
export interface TableAccess {
  /**
   * @param effect carried out at once, whole or not at all
   * @param repeat what the SDK's second try of the same request comes to, the first one's answer being lost
   */
  readonly ask: <T>(process: Process, what: string, effect: () => T, repeat?: (first: T) => T) => Promise<Answer<T>>;
  readonly read: <T>(process: Process, what: string, effect: () => T) => Promise<Answer<T>>;
}

const OUTAGE_MS = 3_000;

export const createTableAccess = (scheduler: Scheduler, dice: Dice, plan: Plan): TableAccess => {
  const { rates, outages, calmAt } = plan;
  const isTroubled = (): boolean => scheduler.now() < calmAt;
  const nothing = (): void => undefined;

  const unanswered = async (process: Process, what: string, effect: () => unknown): Promise<{ answered: false }> => {
    await scheduler.call(process, `${what}, unanswered`, effect, { answerMs: OUTAGE_MS });
    return { answered: false };
  };

  const access: TableAccess = {
    async ask(process, what, effect, repeat = effect) {
      if (!isTroubled()) return { answered: true, value: await scheduler.call(process, what, effect) };
      if (isWithin(outages, scheduler.now())) return unanswered(process, what, nothing);
      if (dice.chance(rates.unanswered)) return unanswered(process, what, dice.chance(0.5) ? effect : nothing);
      if (dice.chance(rates.error)) {
        await scheduler.call(process, `${what}, refused`, nothing);
        throw new RefusedError(`${what} is refused`);
      }
      const first = await scheduler.call(process, what, effect);
      if (!dice.chance(rates.repeated)) return { answered: true, value: first };
      return { answered: true, value: await scheduler.call(process, `${what}, repeated`, () => repeat(first)) };
    },

    async read(process, what, effect) {
      return access.ask(process, what, effect);
    },
  };
  return access;
};

/** The value, or what the port says when there is none. */
export const valueOr = <T, E>(answer: Answer<T>, otherwise: E): T | E => (answer.answered ? answer.value : otherwise);

/** For ports that throw when the table does not answer. */
export const valueOf = <T>(answer: Answer<T>): T => {
  if (!answer.answered) throw new RefusedError('the table does not answer');
  return answer.value;
};
