import { type Instant, toIso } from '../shared/instant.ts';
import type { Dispatch } from './dispatch.ts';

/** What of a dispatch others are told; no person is named in it. */
export type EventSubject = Pick<
  Dispatch,
  | 'dispatchId'
  | 'status'
  | 'total'
  | 'generation'
  | 'outcome'
  | 'needsAttention'
  | 'failureReason'
  | 'stoppedAt'
  | 'counts'
  | 'deliveries'
>;

/** Something that others may want to act on. */
export interface DispatchEvent {
  /** The same each time it is told, which may be more than once. */
  readonly id: string;
  readonly kind: 'completed' | 'stopped' | 'needs-attention';
  readonly dispatch: EventSubject;
  readonly at: Instant;
}

/** What a change of a dispatch has to tell; nothing while it stays what it was. @param at when the change was written */
export const eventsOf = (before: EventSubject, after: EventSubject, at: Instant): DispatchEvent[] => {
  const { dispatchId, status, generation, stoppedAt = at } = after;
  const about = { dispatch: after, at };
  const news: DispatchEvent[] = [];
  if (status === 'COMPLETED' && before.status !== status)
    news.push({ id: `${dispatchId}-${generation}-completed`, kind: 'completed', ...about });
  if (status === 'STOPPED' && before.status !== status)
    news.push({ id: `${dispatchId}-${toIso(stoppedAt)}-stopped`, kind: 'stopped', ...about });
  if (after.needsAttention === true && before.needsAttention !== true)
    news.push({ id: `${dispatchId}-${generation}-needs-attention`, kind: 'needs-attention', ...about });
  return news;
};
