import type { AttributedEvent, Feedback, ReceivedFeedback } from '../../domain/recipient/feedback.ts';
import type { Sleep } from '../ports/system.ts';
import { groupId } from '../send/finished-attempt.ts';
import { type Applied, applyEvent, type ApplyEventDeps, type FeedbackSignal } from './apply-event.ts';
import { type ArrivedEvent, type BatchResult, recordWatermark, type RecordWatermarkDeps } from './record-watermark.ts';

export interface ApplyFeedbackDeps extends ApplyEventDeps, RecordWatermarkDeps {
  readonly sleep: Sleep;
}

/** Part of the time for applying events; the rest is for keeping those that could not be applied. */
const APPLYING_SHARE = 0.5;

/** Kept back to say which messages must come again. */
const ANSWER_MS = 200;

type Results = Map<Feedback, Applied>;

/**
 * Applies a batch of SES's events to the rows of their mails, and records how far it got.
 * @returns for each whether it must come again
 */
export const createApplyFeedback =
  (deps: ApplyFeedbackDeps) =>
  async (batch: readonly ReceivedFeedback[], remainingMs: () => number): Promise<boolean[]> => {
    const events = batch.filter((each) => each.kind === 'event');
    for (const each of batch) if (each.kind !== 'event') deps.observe(signalOf(each));

    // A table that hangs must not use up the time in which unapplied events are kept.
    const results: Results = new Map();
    await Promise.race([applyAll(deps, events, results), deps.sleep(remainingMs() * APPLYING_SHARE)]);
    const reached: Results = new Map(results);
    const recorded = recordWatermark(deps, summarise(batch, events, reached));
    await Promise.race([recorded, deps.sleep(Math.max(0, remainingMs() - ANSWER_MS))]);

    return batch.map((each) => each.kind === 'event' && isStuck(reached.get(each)));
  };

/** Without a result it was still being applied when time was up. */
const isStuck = (result: Applied | undefined): boolean => result === undefined || result === 'failed';

/** Events of one row one after the other, as each reads what the one before has written. */
const applyAll = async (deps: ApplyFeedbackDeps, events: readonly AttributedEvent[], results: Results): Promise<void> => {
  const groups = Map.groupBy(events, ({ origin }) => groupId(origin.key)).values();
  await Promise.all(
    [...groups].map(async (group) => {
      for (const event of group) results.set(event, await applyEvent(deps, event));
    }),
  );
};

const summarise = (
  batch: readonly ReceivedFeedback[],
  events: readonly AttributedEvent[],
  results: ReadonlyMap<Feedback, Applied>,
): BatchResult => {
  const canaries = batch.flatMap((each) => (each.kind === 'canary' ? [each.sentAt] : []));
  const done = events.filter((event) => !isStuck(results.get(event)));
  const applied = new Set(done.map(({ origin }) => origin.lease));
  const stuck = events.filter((event) => isStuck(results.get(event)) && !applied.has(event.origin.lease));
  return {
    unapplied: stuck.map(({ origin: { lease }, sentAt }) => ({ lease, sentAt })),
    appliedLeases: [...applied],
    // A row that is gone says nothing about events of rows that are there.
    appliedSentAt: [...done.filter((event) => results.get(event) === 'applied').map(({ sentAt }) => sentAt), ...canaries],
    arrived: batch.map((each) => arrivedAs(each, results)),
  };
};

const arrivedAs = (feedback: ReceivedFeedback, results: ReadonlyMap<Feedback, Applied>): ArrivedEvent => {
  const { arrival } = feedback;
  switch (feedback.kind) {
    case 'event': {
      const { event, origin, sentAt } = feedback;
      const isApplied = results.get(feedback) === 'applied';
      return { arrival, isApplied, lease: origin.lease, ...(event.kind === 'send' && { sendEventOf: sentAt }) };
    }
    case 'canary':
      return { arrival, isApplied: true, ...(feedback.isSend && { sendEventOf: feedback.sentAt }) };
    case 'ignored':
    case 'foreign':
    case 'malformed':
      return { arrival, isApplied: false };
  }
};

const signalOf = (feedback: Exclude<Feedback, AttributedEvent>): FeedbackSignal =>
  feedback.kind === 'ignored' ? { type: 'ignored', detail: feedback.eventType } : { type: feedback.kind };
