import type { Dispatch } from './dispatch.ts';
import { type Instant, toIso } from '../shared/instant.ts';

/** What of a dispatch others are told; no person is named in it. */
export type Told = Pick<
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
export interface News {
  /** The same each time it is told, which may be more than once. */
  readonly id: string;
  readonly kind: 'completed' | 'stopped' | 'needs-attention';
  readonly dispatch: Told;
  readonly at: Instant;
}

/** What a change of a dispatch has to tell; nothing while it stays what it was. @param at when the change was written */
export const newsOf = (before: Told, after: Told, at: Instant): News[] => {
  const { dispatchId, status, generation, stoppedAt = at } = after;
  const about = { dispatch: after, at };
  const news: News[] = [];
  if (status === 'COMPLETED' && before.status !== status)
    news.push({ id: `${dispatchId}-${generation}-completed`, kind: 'completed', ...about });
  if (status === 'STOPPED' && before.status !== status)
    news.push({ id: `${dispatchId}-${toIso(stoppedAt)}-stopped`, kind: 'stopped', ...about });
  if (after.needsAttention === true && before.needsAttention !== true)
    news.push({ id: `${dispatchId}-${generation}-needs-attention`, kind: 'needs-attention', ...about });
  return news;
};
