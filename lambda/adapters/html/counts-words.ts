import { bounceStatisticsOf, type Counts, type Deliveries, NO_DELIVERIES } from '../../domain/dispatch/dispatch.ts';
import { exceededRate } from '../../domain/dispatch/stop-rule.ts';
import { RECIPIENT_STATUSES } from '../../domain/recipient/recipient.ts';

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

/** The rate of bounces or complaints for which a person should look; undefined: neither. */
export const rateOf = ({ counts, deliveries = NO_DELIVERIES }: Rows): ReturnType<typeof exceededRate> =>
  exceededRate(bounceStatisticsOf(counts, deliveries));

/** Why a person should look at what came of a dispatch; empty: no reason is counted. */
export const reasonsToLook = (rows: Rows): readonly string[] => {
  const { counts, deliveries = NO_DELIVERIES } = rows;
  const rate = rateOf(rows);
  return [
    ...(counts.FAILED > 0 ? [`${numberOf(counts.FAILED, 'mail was', 'mails were')} not sent`] : []),
    ...(counts.UNKNOWN > 0 ? [`of ${numberOf(counts.UNKNOWN, 'mail')} nobody knows whether it was sent`] : []),
    ...(rate === 'high-bounce-rate' ? [`${numberOf(deliveries.bounced, 'mail')} bounced permanently`] : []),
    ...(rate === 'high-complaint-rate' ? [`${numberOf(deliveries.complained, 'mail was', 'mails were')} marked as spam`] : []),
  ];
};
