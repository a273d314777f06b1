import type { Instant } from '../domain/instant.ts';
import type { Sending } from '../domain/pause.ts';
import type { Clock, SendingRepository, SweepTraces } from './ports.ts';

/** How sending stood when it was last read. */
export interface KnownSending {
  readonly sending: Sending;
  readonly lastPassAt: Instant | undefined;
  readonly at: Instant;
}

/** What one sender environment knows of the pause. */
export interface PauseState {
  /** At most five seconds old; undefined: the table does not say. */
  read(): Promise<KnownSending | undefined>;
  /** Stores a decision. @returns whether it prevailed: nobody stored another since */
  store(next: Sending): Promise<boolean>;
}

/** How old the knowledge of a pause may be. */
const KEPT_MS = 5_000;

export const createPauseState = (sending: SendingRepository, sweeps: SweepTraces, clock: Clock): PauseState => {
  let known: KnownSending | undefined;
  return {
    async read() {
      if (known !== undefined && clock() - known.at < KEPT_MS) return known;
      const [now, lastPassAt] = await Promise.all([sending.read(), sweeps.lastPassAt()]);
      known = now === 'unavailable' || lastPassAt === 'unavailable' ? undefined : { sending: now, lastPassAt, at: clock() };
      return known;
    },

    /** Even if another sender prevailed, ours pauses by its own decision until it reads again; to go on it must have prevailed. */
    async store(next) {
      const decided = { sending: next, lastPassAt: known?.lastPassAt, at: clock() };
      known = next.pause === undefined ? undefined : decided;
      const prevails = await sending.change(next).catch(() => false);
      if (prevails) known = decided;
      return prevails;
    },
  };
};
