import { type Counts, type Deliveries, NO_DELIVERIES } from '../../domain/dispatch.ts';
import { RECIPIENT_STATUSES } from '../../domain/recipient.ts';
import { areBad } from '../../domain/stop-rule.ts';

/** Recipients by state, without the states that none is in. */
export const countsText = (counts: Counts): string => {
  const there = RECIPIENT_STATUSES.filter((status) => counts[status] > 0).map((status) => `${counts[status]} ${status}`);
  return there.length === 0 ? 'none' : there.join(', ');
};

/** So many of something, in words. */
export const numberOf = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

/** What is counted of a dispatch; of one that began long ago, no deliveries. */
interface Rows {
  readonly counts: Counts;
  readonly deliveries?: Deliveries;
}

/** Whether so many mails bounced that a person should look. */
export const hasBadBounces = ({ counts, deliveries = NO_DELIVERIES }: Rows): boolean =>
  areBad({ sent: counts.SENT, bounced: deliveries.bounced });

/** Why a person should look at what came of a dispatch; empty: no reason is counted. */
export const reasonsToLook = (rows: Rows): readonly string[] => {
  const { counts, deliveries = NO_DELIVERIES } = rows;
  return [
    ...(counts.FAILED > 0 ? [`${numberOf(counts.FAILED, 'mail was', 'mails were')} not sent`] : []),
    ...(counts.UNKNOWN > 0 ? [`of ${numberOf(counts.UNKNOWN, 'mail')} nobody knows whether it was sent`] : []),
    ...(hasBadBounces(rows) ? [`${numberOf(deliveries.bounced, 'mail')} bounced`] : []),
  ];
};
