import type { Theme } from './plan.ts';

/** A rule that can be taken out, to see that the simulation misses it. */
export type Sabotage =
  | 'claim-unconditional'
  | 'write-unfenced'
  | 'time-unchecked'
  | 'own-claim-unrecognised'
  | 'own-write-unrecognised'
  | 'silence-always-believed'
  | 'unapplied-forgotten'
  | 'watermark-before-unapplied'
  | 'behind-not-recorded'
  | 'behind-ignored'
  | 'redelivery-not-awaited'
  | 'lost-attempts-forgotten'
  | 'removed-before-verdict'
  | 'expired-leases-not-noted'
  | 'pause-unseen-by-walks'
  | 'events-for-open-rows-alone'
  | 'redelivery-stamped-anew'
  | 'completion-unconditional'
  | 'pause-overwritten'
  | 'paused-by-one-refusal'
  | 'refusals-counted'
  | 'late-deliveries-left'
  | 'late-states-counted'
  | 'tasks-unseen';

export interface Rule {
  readonly sabotage: Sabotage;
  /** What happens without it. */
  readonly without: string;
  /** Schedules in which it matters; absent: any. */
  readonly theme?: Theme;
}

export const RULES: readonly Rule[] = [
  { sabotage: 'claim-unconditional', without: 'a claim is granted whatever state the row is in' },
  { sabotage: 'write-unfenced', without: 'a worker writes though its lease token no longer stands' },
  { sabotage: 'time-unchecked', without: 'a worker believes that it has time left for another call to SES' },
  { sabotage: 'own-claim-unrecognised', without: 'a claim whose answer was lost counts as somebody else’s' },
  { sabotage: 'own-write-unrecognised', without: 'an outcome whose write got no answer counts as somebody else’s' },
  {
    sabotage: 'silence-always-believed',
    without: 'the silence of SES’s events says something before anything was heard',
    theme: 'lost-answers',
  },
  { sabotage: 'unapplied-forgotten', without: 'an event that could not be applied is forgotten', theme: 'stuck-events' },
  {
    sabotage: 'watermark-before-unapplied',
    without: 'the watermark moves on though unapplied events could not be kept',
    theme: 'stuck-events',
  },
  {
    sabotage: 'behind-not-recorded',
    without: 'the watermark moves on though nobody is told that feedback is behind',
    theme: 'backlog',
  },
  { sabotage: 'behind-ignored', without: 'silence is believed while feedback is behind', theme: 'backlog' },
  { sabotage: 'redelivery-not-awaited', without: 'silence is believed at the first look', theme: 'lost-answers' },
  { sabotage: 'lost-attempts-forgotten', without: 'a round forgets the attempts that were lost in it', theme: 'lost-answers' },
  { sabotage: 'removed-before-verdict', without: 'an attempt is taken off the ledger before it is resolved' },
  { sabotage: 'expired-leases-not-noted', without: 'the message of a dead worker’s row is deleted and nothing notes the row' },
  { sabotage: 'pause-unseen-by-walks', without: 'the waiting clock runs on in a pause', theme: 'nights' },
  {
    sabotage: 'events-for-open-rows-alone',
    without: 'an event changes nothing about a recipient that was given up',
    theme: 'lost-answers',
  },
  { sabotage: 'redelivery-stamped-anew', without: 'a message that comes again passes for one that was redriven' },
  {
    sabotage: 'completion-unconditional',
    without: 'a dispatch is completed by what its rows were a while ago',
    theme: 'reopenings',
  },
  { sabotage: 'pause-overwritten', without: 'a sender’s decision replaces whatever pause stands by then', theme: 'pauses' },
  { sabotage: 'paused-by-one-refusal', without: 'one refusal for the account’s sake pauses sending', theme: 'pauses' },
  {
    sabotage: 'refusals-counted',
    without: 'a refusal for the account’s sake costs its recipient an attempt though nothing else is accepted',
    theme: 'pauses',
  },
  { sabotage: 'late-deliveries-left', without: 'what is counted of a finished dispatch stays as it was counted' },
  { sabotage: 'tasks-unseen', without: 'a dispatch is closed though a task of it is left', theme: 'long-runs' },
  { sabotage: 'late-states-counted', without: 'records from before its end are counted of a dispatch that is completed' },
];
