import {
  type Arrival,
  BEHIND_STEP_MS,
  type BehindPolicy,
  type FeedbackState,
  isBehind,
  type UnappliedEvent,
} from '../../domain/sending/watermark.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { FeedbackRepository } from '../ports/control.ts';
import type { Clock } from '../ports/system.ts';
import type { FeedbackSignal } from './apply-event.ts';

export interface RecordWatermarkDeps {
  readonly feedback: FeedbackRepository;
  readonly behind: BehindPolicy;
  readonly clock: Clock;
  /** Must not throw. */
  readonly observe: (signal: FeedbackSignal) => void;
}

/** How one event came, and what became of it. */
export interface ArrivedEvent {
  readonly arrival: Arrival;
  /** When SES took the mail, for an event that SES publishes at that moment. */
  readonly sendEventOf?: Instant;
  readonly lease?: string;
  readonly isApplied: boolean;
}

/** What came of a batch of events. */
export interface BatchResult {
  /** Events that could not be applied. */
  readonly unapplied: readonly UnappliedEvent[];
  /** Leases of attempts whose events were applied, all that were in the batch. */
  readonly appliedLeases: readonly string[];
  /** When the mails were sent whose events were applied. */
  readonly appliedSentAt: readonly Instant[];
  readonly arrived: readonly ArrivedEvent[];
}

/** A watermark that moves less than this is not worth a write: so there is about one a second, however many events come. */
const WATERMARK_STEP_MS = 1_000;

/**
 * Records how far feedback got, in this order: whoever finds the watermark beyond an attempt must also find an unapplied event
 * about it, and that feedback was behind.
 */
export const recordWatermark = async (deps: RecordWatermarkDeps, result: BatchResult): Promise<void> => {
  const { feedback, observe } = deps;
  const isKept = await keepUnapplied(deps, result.unapplied);
  const { appliedLeases, appliedSentAt, arrived } = result;
  // Mails that are not ours say nothing, unless they came late.
  if (appliedLeases.length === 0 && appliedSentAt.length === 0 && !areBehind(deps, arrived, new Set())) return;
  try {
    const state = await feedback.read();
    const isBehindKept = await keepBehind(deps, arrived, state);
    if (state !== 'unavailable') await removeApplied(deps, appliedLeases, state);
    if (isKept && isBehindKept) await moveWatermark(deps, appliedSentAt, state);
  } catch (error) {
    observe({ type: 'watermark-failed', error });
  }
};

const keepUnapplied = async (
  { feedback, clock, observe }: RecordWatermarkDeps,
  unapplied: readonly UnappliedEvent[],
): Promise<boolean> => {
  if (unapplied.length === 0) return true;
  try {
    if (await feedback.addUnapplied(unapplied, clock())) return true;
    observe({ type: 'unapplied-not-kept' });
  } catch (error) {
    observe({ type: 'unapplied-not-kept', error });
  }
  return false;
};

/** @param known leases of attempts with an unapplied event: others need not wait for those */
const areBehind = (
  { behind, clock }: RecordWatermarkDeps,
  arrived: readonly ArrivedEvent[],
  known: ReadonlySet<string | undefined>,
): boolean =>
  arrived.some(({ arrival, sendEventOf, lease, isApplied }) => {
    const hasOwnEntry = !isApplied || (lease !== undefined && known.has(lease));
    return isBehind(arrival, sendEventOf, hasOwnEntry, behind, clock());
  });

/** @returns false: it could not be written that feedback is behind, so the watermark must stay */
const keepBehind = async (
  deps: RecordWatermarkDeps,
  arrived: readonly ArrivedEvent[],
  state: FeedbackState | 'unavailable',
): Promise<boolean> => {
  const { behindAt = -Infinity, unapplied } = state === 'unavailable' ? { unapplied: [] } : state;
  if (!areBehind(deps, arrived, new Set(unapplied.map(({ lease }) => lease)))) return true;
  const now = deps.clock();
  if (now - behindAt < BEHIND_STEP_MS) return true;
  deps.observe({ type: 'behind' });
  return deps.feedback.recordBehind(now);
};

const removeApplied = async (
  { feedback }: RecordWatermarkDeps,
  appliedLeases: readonly string[],
  { unapplied }: FeedbackState,
): Promise<void> => {
  const leases = unapplied.flatMap(({ lease }) => (lease !== undefined && appliedLeases.includes(lease) ? [lease] : []));
  if (leases.length > 0) await feedback.removeUnapplied(leases);
};

const moveWatermark = async (
  { feedback, clock }: RecordWatermarkDeps,
  appliedSentAt: readonly Instant[],
  state: FeedbackState | 'unavailable',
): Promise<void> => {
  if (appliedSentAt.length === 0) return;
  // A clock that runs ahead must not vouch for mails that are still to be sent.
  const newest = Math.min(clock(), Math.max(...appliedSentAt));
  const watermark = state === 'unavailable' ? undefined : state.watermark;
  if (watermark === undefined || newest - watermark >= WATERMARK_STEP_MS) await feedback.moveWatermark(newest);
};
