import type { Dispatch } from '../../domain/dispatch/dispatch.ts';
import { maskAddresses } from '../../domain/recipient/masking.ts';
import type { Sending } from '../../domain/sending/pause.ts';
import { compareTroubles, troubleOf } from '../../domain/sending/trouble.ts';
import type { FeedbackRepository, SendingRepository, SweepStates } from '../ports/control.ts';
import type { OpenList, Overview } from '../ports/queries.ts';
import type { Clock } from '../ports/system.ts';

export interface ShowOverviewDeps {
  readonly dispatches: OpenList;
  readonly sending: Pick<SendingRepository, 'read'>;
  readonly sweeps: Pick<SweepStates, 'lastPassAt' | 'newestSent' | 'roundProgressAt'>;
  readonly feedback: Pick<FeedbackRepository, 'read'>;
  readonly clock: Clock;
}

export type ShowOverview = () => Promise<Overview>;

/** Dispatches that are looked at; each costs a read. */
const OPEN_LOOKED_AT = 300;
const ATTENTION_LOOKED_AT = 100;

/** A widget has room for so many. */
const SHOWN = 20;

/** Tells how the service stands, and which dispatches are in trouble. */
export const createShowOverview =
  ({ dispatches, sending, sweeps, feedback, clock }: ShowOverviewDeps): ShowOverview =>
  async () => {
    const [state, lastPassAt, roundProgressAt, newestSentAt, heard, found] = await Promise.all([
      sending.read(),
      sweeps.lastPassAt(),
      sweeps.roundProgressAt().catch(() => undefined),
      // What is wrong with that item, lastPassAt tells as well.
      sweeps.newestSent(undefined).catch((): 'unavailable' => 'unavailable'),
      feedback.read(),
      look(dispatches),
    ]);
    const now = clock();
    const inNeed = found.dispatches
      .flatMap((dispatch) => {
        const trouble = troubleOf(dispatch, now);
        return trouble === undefined ? [] : [{ dispatch, trouble }];
      })
      .sort(compareTroubles);
    const underWay = found.dispatches.filter(({ status }) => status === 'ACCEPTED' || status === 'IN_PROGRESS');
    return {
      now,
      sending: state === 'unavailable' ? state : masked(state),
      lastPassAt,
      roundProgressAt,
      feedback: heard,
      newestSentAt,
      inNeed: inNeed.slice(0, SHOWN),
      moreInNeed: Math.max(0, inNeed.length - SHOWN),
      underWay: underWay.length,
      oldestUnderWayAt: underWay.length === 0 ? undefined : Math.min(...underWay.map(({ createdAt }) => createdAt)),
      isPart: found.isPart,
    };
  };

/** The newest that are not finished, and the newest that need attention: those may not wait for the others to end. Tests, too: alarms ring for them. */
const look = async (dispatches: OpenList): Promise<{ readonly dispatches: readonly Dispatch[]; readonly isPart: boolean }> => {
  const open = await dispatches.list({ limit: OPEN_LOOKED_AT });
  if (open.next?.part !== 'open') return { dispatches: distinct(open.dispatches), isPart: open.next !== undefined };
  const attention = await dispatches.list({ from: { part: 'attention' }, limit: ATTENTION_LOOKED_AT });
  return { dispatches: distinct([...open.dispatches, ...attention.dispatches]), isPart: true };
};

/** One that is finished in between is in both parts. */
const distinct = (dispatches: readonly Dispatch[]): readonly Dispatch[] => [
  ...new Map(dispatches.map((dispatch) => [dispatch.dispatchId, dispatch])).values(),
];

/** An operator's id may be an address, and a reason may say anything. */
const masked = (sending: Sending): Sending => {
  const { pause } = sending;
  if (pause?.by !== 'operator') return sending;
  const { who, reason } = pause;
  return {
    ...sending,
    pause: { ...pause, who: maskAddresses(who), ...(reason !== undefined && { reason: maskAddresses(reason) }) },
  };
};
