import { pausedBy, resumed, type Sending } from '../../domain/sending/pause.ts';
import type { SendingRepository } from '../ports/control.ts';
import { Unavailable } from '../ports/errors.ts';
import type { Clock, Random, Sleep } from '../ports/system.ts';

export interface OperateSendingDeps {
  readonly sending: SendingRepository;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
}

/** What a person wants of sending. */
export type SendingRequest =
  { readonly paused: true; readonly who: string; readonly reason?: string } | { readonly paused: false };

/** How sending stands, and whether that is by this very call. */
export interface SendingNow {
  readonly sending: Sending;
  readonly changed: boolean;
}

export interface OperateSending {
  /** Throws {@link Unavailable}. */
  read(): Promise<SendingNow>;
  /** Throws {@link Unavailable}. */
  change(query: SendingRequest): Promise<SendingNow>;
}

const TRIES = 5;
const RETRY_MS = 50;
const RETRY_AFTER_SECONDS = 1;

/** Pauses and resumes all sending by a person's hand. */
export const createOperateSending = ({ sending, clock, random, sleep }: OperateSendingDeps): OperateSending => {
  const read = async (): Promise<Sending> => {
    const now = await sending.read();
    if (now === 'unavailable') throw new Unavailable('the table', RETRY_AFTER_SECONDS);
    return now;
  };

  const store = async (next: Sending): Promise<boolean> => {
    try {
      return await sending.change(next);
    } catch (error) {
      throw new Unavailable('the table', RETRY_AFTER_SECONDS, error);
    }
  };

  return {
    read: async () => ({ sending: await read(), changed: false }),

    async change(query) {
      for (let tries = 1; tries <= TRIES; tries += 1) {
        const now = await read();
        if (isGranted(now, query)) return { sending: now, changed: false };
        // A person who resumes says that the cause is gone: the next pause is not longer for the last one.
        const next = query.paused ? pausedBy(now, query, clock()) : resumed({ version: now.version }, clock());
        if (await store(next)) return { sending: next, changed: true };
        // A sender has set or ended a pause of its own meanwhile.
        await sleep(RETRY_MS * tries * (0.5 + random() / 2));
      }
      throw new Unavailable('the table', RETRY_AFTER_SECONDS);
    },
  };
};

/** A call that is repeated does not make the pause younger than it is. */
const isGranted = ({ pause }: Sending, query: SendingRequest): boolean =>
  query.paused ? pause?.by === 'operator' && pause.who === query.who && pause.reason === query.reason : pause === undefined;
