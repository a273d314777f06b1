import type { Sending } from '../../../domain/sending/pause.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import type { SendingRepository, SweepStates, TableIdentity, TableOrigin } from '../../ports/control.ts';
import type { Clock } from '../../ports/system.ts';

/** How sending stood when it was last read. */
export interface KnownSending {
  readonly sending: Sending;
  readonly lastPassAt: Instant | undefined;
  readonly origin: TableOrigin;
  readonly at: Instant;
}

/** What one sender environment knows of the pause. */
export interface PauseState {
  /** At most five seconds old; undefined: the table does not say. */
  read(): Promise<KnownSending | undefined>;
  /** Stores a decision. @returns whether it prevailed: nobody stored another since */
  store(next: Sending): Promise<boolean>;
}

export interface PauseStateDeps {
  readonly sending: SendingRepository;
  readonly sweeps: Pick<SweepStates, 'lastPassAt'>;
  readonly identity: Pick<TableIdentity, 'origin'>;
}

/** How old the knowledge of a pause may be. */
const KEPT_MS = 5_000;

export const createPauseState = ({ sending, sweeps, identity }: PauseStateDeps, clock: Clock): PauseState => {
  let known: KnownSending | undefined;
  return {
    async read() {
      if (known !== undefined && clock() - known.at < KEPT_MS) return known;
      const [now, lastPassAt, origin] = await Promise.all([sending.read(), sweeps.lastPassAt(), identity.origin()]);
      known =
        now === 'unavailable' || lastPassAt === 'unavailable' || origin === 'unavailable'
          ? undefined
          : { sending: now, lastPassAt, origin, at: clock() };
      return known;
    },

    /** Even if another sender prevailed, ours pauses by its own decision until it reads again; to go on it must have prevailed. */
    async store(next) {
      const decided = {
        sending: next,
        lastPassAt: known?.lastPassAt,
        origin: known?.origin ?? 'unrecorded',
        at: clock(),
      } as const;
      known = next.pause === undefined ? undefined : decided;
      const prevails = await sending.change(next).catch(() => false);
      if (prevails) known = decided;
      return prevails;
    },
  };
};
