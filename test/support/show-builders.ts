import type { Details, DispatchInNeed, Overview } from '../../lambda/application/ports/queries.ts';
import { type Dispatch, NO_DELIVERIES } from '../../lambda/domain/dispatch/dispatch.ts';
import { SENDING } from '../../lambda/domain/sending/pause.ts';
import type { Trouble } from '../../lambda/domain/sending/trouble.ts';
import { aDispatch, someCounts } from './builders.ts';
import { T0 } from './clock.ts';

/** An id as they are given out. */
export const LONG_ID = 'abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst';

/** A service in which all is well and nothing goes on. */
export const anOverview = (overview: Partial<Overview> = {}): Overview => ({
  now: T0,
  sending: SENDING,
  lastPassAt: T0 - 60_000,
  roundProgressAt: undefined,
  feedback: { watermark: T0 - 30_000, unapplied: [] },
  newestSentAt: T0 - 60_000,
  inNeed: [],
  moreInNeed: 0,
  underWay: 0,
  oldestUnderWayAt: undefined,
  isPart: false,
  ...overview,
});

export const aTrouble = (dispatch: Partial<Dispatch> = {}, trouble: Partial<Trouble> = {}): DispatchInNeed => ({
  dispatch: aDispatch({ dispatchId: LONG_ID, status: 'STOPPED', ...dispatch }),
  trouble: { kind: 'stopped', since: T0, ...trouble },
});

export const someDetails = (dispatch: Partial<Dispatch> = {}, details: Partial<Omit<Details, 'dispatch'>> = {}): Details => ({
  now: T0,
  dispatch: aDispatch({ dispatchId: LONG_ID, ...dispatch }),
  counts: someCounts({ PENDING: 3 }),
  deliveries: NO_DELIVERIES,
  unclearPolicy: 'auto',
  pendingTasks: [],
  pendingBatches: 0,
  badRecipients: [],
  ...details,
});
