import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import {
  moveClock,
  type ResolvePolicy,
  type ResolveView,
  type UnclearAttempt,
  type WaitingClock,
} from '../../domain/recipient/unclear.ts';
import { isPaused } from '../../domain/sending/pause.ts';
import type { FeedbackRepository, SendingRepository, UnclearLedger, WalkRepository, WalkState } from '../ports/control.ts';
import type { MailProvider } from '../ports/provider.ts';
import type { SendQueue } from '../ports/queues.ts';
import type { RecipientRepository } from '../ports/recipients.ts';
import type { Clock, Random } from '../ports/system.ts';
import { resolveAttempt, type Resolved } from './resolve-attempt.ts';

/** What happened, for logs and metrics: never addresses or content. */
export interface ResolveSignal {
  /** `unsent`: SES's events were silent. `resent`: the policy asks for one more mail. `unknown`: a person has to decide. */
  readonly type: 'unsent' | 'resent' | 'unknown' | 'canary' | 'canary-refused';
  /** Absent where no one recipient is meant. */
  readonly key?: RecipientKey;
  readonly round?: number;
  readonly attempt?: number;
  readonly code?: string;
}

export interface ResolveUnclearDeps {
  readonly ledger: Omit<UnclearLedger, 'add' | 'size'>;
  readonly walks: WalkRepository;
  readonly recipients: Pick<RecipientRepository, 'applyPatch'>;
  readonly feedback: Pick<FeedbackRepository, 'read'>;
  readonly sending: Pick<SendingRepository, 'read'>;
  readonly sendQueue: Pick<SendQueue, 'send'>;
  readonly provider: Pick<MailProvider, 'sendCanary'>;
  /** Whom canaries are from, formatted as the From header of mails is. */
  readonly from: string;
  readonly policy: ResolvePolicy;
  readonly clock: Clock;
  readonly random: Random;
  /** Must not throw. */
  readonly observe: (signal: ResolveSignal) => void;
}

/** What a walk did. */
export interface ResolveReport {
  /** Attempts that were looked at and go on waiting. */
  readonly waiting: number;
  readonly resolved: number;
  /** Attempts of which the table or the queue gave no answer; the next walk takes them again. */
  readonly failed: number;
  /** Attempts of which no version of this code can read the item or the row; a person must look. */
  readonly unreadable: number;
  /** Whether the walk reached the end of the ledger, be it from where another ran out of time. */
  readonly finished: boolean;
}

const NOTHING: ResolveReport = { waiting: 0, resolved: 0, failed: 0, unreadable: 0, finished: true };

/** A walk that is killed loses no more of its way than this. */
const KEEP_MS = 5_000;

/** A row that cannot be read is read again so much later: a person may have corrected it. */
const UNREADABLE_RETRY_MS = 15 * 60_000;

/**
 * Walks the ledger of unclear attempts: decides each whose lease is over, sends the message of those that may be sent again,
 * and takes them off the ledger last. Two walks at once do no harm.
 */
export const createResolveUnclear =
  (deps: ResolveUnclearDeps) =>
  async (hasTime: () => boolean): Promise<ResolveReport> => {
    const [state, before] = await Promise.all([deps.sending.read(), deps.walks.read()]);
    if (state === 'unavailable') return { ...NOTHING, finished: false };
    const paused = isPaused(state, deps.clock());
    const { report, waiting, wantsCanary } = await walk(deps, before, paused, hasTime);
    if (wantsCanary && !paused && waiting !== undefined) await sendCanary(deps, waiting);
    return report;
  };

interface Walk {
  readonly report: ResolveReport;
  /** Absent: nothing was due. */
  readonly waiting: WaitingClock | undefined;
  readonly wantsCanary: boolean;
}

const walk = async (deps: ResolveUnclearDeps, before: WalkState, paused: boolean, hasTime: () => boolean): Promise<Walk> => {
  const { clock, feedback, ledger } = deps;
  let waiting: WaitingClock | undefined;
  let report = NOTHING;
  let wantsCanary = false;
  const keep = createKeeper(deps, before.position);

  for await (const page of ledger.due(clock(), before.position)) {
    report = { ...report, unreadable: report.unreadable + page.unreadable };
    if (page.items.length > 0) {
      // Nothing waits for a clock that nobody looks at.
      waiting ??= await advanceClock(deps, before, paused);
      // Anew for each page: what feedback found out meanwhile counts.
      const heard = await feedback.read();
      if (heard === 'unavailable') return { report: { ...report, finished: false }, waiting, wantsCanary: false };
      const view = { feedback: heard, clock: waiting, now: clock() };
      const results = await Promise.all(page.items.map((each) => handle(deps, each, { ...view, random: deps.random() })));
      report = addResults(report, results);
      wantsCanary ||= results.includes('wants-canary');
    }
    const isShort = !hasTime();
    await keep(page.position, isShort);
    if (isShort) return { report: { ...report, finished: false }, waiting, wantsCanary };
  }
  await keep(undefined, true);
  return { report, waiting, wantsCanary };
};

/** Keeps the position now and then, so that not every page costs a write. */
const createKeeper = ({ walks, clock }: ResolveUnclearDeps, before: string | undefined) => {
  let kept = before;
  let keptAt = clock();
  return async (position: string | undefined, atOnce: boolean): Promise<void> => {
    if (position === kept || (!atOnce && clock() - keptAt < KEEP_MS)) return;
    await walks.keepPosition(position);
    kept = position;
    keptAt = clock();
  };
};

/** Another walk at the same time moves it no further: the time has passed once. */
const advanceClock = async (
  { walks, policy, clock }: ResolveUnclearDeps,
  was: WalkState,
  paused: boolean,
): Promise<WaitingClock> => {
  const next = moveClock(was, paused, policy, clock());
  return (await walks.moveClock(next, was)) ? next : walks.read();
};

type Handled = 'waiting' | 'wants-canary' | 'resolved' | 'failed' | 'unreadable';

const addResults = (report: ResolveReport, results: readonly Handled[]): ResolveReport => {
  const count = (...of: Handled[]): number => results.filter((result) => of.includes(result)).length;
  return {
    ...report,
    waiting: report.waiting + count('waiting', 'wants-canary'),
    resolved: report.resolved + count('resolved'),
    failed: report.failed + count('failed'),
    unreadable: report.unreadable + count('unreadable'),
  };
};

/** One attempt that cannot be handled must not keep the others from it. */
const handle = async (deps: ResolveUnclearDeps, attempt: UnclearAttempt, view: ResolveView): Promise<Handled> => {
  if (attempt.retryAt !== undefined && attempt.retryAt > view.now) return 'unreadable';
  try {
    return await act(deps, attempt, await resolveAttempt(deps.recipients, deps.policy, attempt, view), view);
  } catch {
    return 'failed';
  }
};

const act = async (
  { ledger, sendQueue, policy, observe }: ResolveUnclearDeps,
  attempt: UnclearAttempt,
  resolved: Resolved,
  { now }: ResolveView,
): Promise<Handled> => {
  const { key } = attempt;
  switch (resolved.outcome) {
    case 'unavailable':
      return 'failed';
    case 'unreadable':
      await ledger.note({ ...attempt, retryAt: now + UNREADABLE_RETRY_MS });
      return 'unreadable';
    case 'waits':
      if (resolved.attempt.notedAt !== attempt.notedAt || resolved.attempt.silentAt !== attempt.silentAt)
        await ledger.note(resolved.attempt);
      return resolved.wantsCanary ? 'wants-canary' : 'waiting';
    case 'unsent': {
      const { round, attemptCount, nextAttemptAt } = resolved.row;
      if (resolved.isNew) observe({ type: policy.unclear === 'auto' ? 'unsent' : 'resent', key, round, attempt: attemptCount });
      const delaySeconds = Math.max(0, Math.ceil((nextAttemptAt - now) / 1000));
      // Without a message nobody would send: the attempt stays on the ledger until there is one.
      if ((await sendQueue.send([{ key, delaySeconds }]))[0] !== true) return 'failed';
      break;
    }
    case 'unknown':
      observe({ type: 'unknown', key, round: resolved.row.round, attempt: resolved.row.attemptCount });
      break;
    case 'settled':
      break;
  }
  await ledger.remove(attempt);
  return 'resolved';
};

/** A fifth of the lease, a minute at most. */
const apartSeconds = ({ leaseSeconds }: ResolvePolicy): number => Math.min(60, leaseSeconds / 5);

/** On a quiet day no event moves the watermark: a canary makes one. Its failure changes nothing but how long rows wait. */
const sendCanary = async (
  { walks, provider, from, policy, clock, observe }: ResolveUnclearDeps,
  { seconds, canaries }: WaitingClock,
): Promise<void> => {
  try {
    const sentAt = clock();
    if (!(await walks.bookCanary(sentAt, apartSeconds(policy)))) return;
    const answer = await provider.sendCanary(from);
    if (answer.kind === 'account' || answer.kind === 'permanent') observe({ type: 'canary-refused', code: answer.code });
    if (answer.kind !== 'accepted') return;
    observe({ type: 'canary' });
    await walks.keepCanaries([...canaries, { sentAt, clock: seconds }]);
  } catch {
    // The next walk that finds attempts waiting tries again.
  }
};
