/** The times that must grow in this order for a mail never to be sent by two workers. */
export interface TimeOrder {
  readonly sesTimeoutSeconds: number;
  readonly functionTimeoutSeconds: number;
  readonly leaseSeconds: number;
  readonly visibilitySeconds: number;
  /** The function that applies SES's events, and how long an event in its hand stays hidden. */
  readonly feedbackTimeoutSeconds: number;
  readonly feedbackVisibilitySeconds: number;
  /** An event that takes longer to come shows that feedback is behind, and for a while nothing counts as unsent. */
  readonly behindAfterSeconds: number;
  readonly watermarkMarginSeconds: number;
}

/** How long an event may lie in the queue although nothing is behind: a long poll that began just before it came. */
export const LONGEST_POLL_SECONDS = 20;

/** How long feedback gathers events before it handles them: at a few a second each would be a call of its own otherwise. */
export const FEEDBACK_WINDOW_SECONDS = 2;

/**
 * How long until an event that could not be applied is handed out again, and applied.
 * @param windowSeconds how long events are gathered; 0: not at all. With any other Lambda may wait for a whole long poll.
 */
export const redeliverySeconds = (
  { feedbackVisibilitySeconds, feedbackTimeoutSeconds }: Pick<TimeOrder, 'feedbackVisibilitySeconds' | 'feedbackTimeoutSeconds'>,
  windowSeconds: number,
): number =>
  feedbackVisibilitySeconds + (windowSeconds === 0 ? 0 : Math.max(windowSeconds, LONGEST_POLL_SECONDS)) + feedbackTimeoutSeconds;

/** Deliveries of an event that must fit into a lease: a worker that dies with one in hand must not make a mail look unsent. */
const DELIVERIES_IN_A_LEASE = 3;

/** Each pair: the shorter one, the longer one, and what goes wrong otherwise. */
const ORDER: readonly (readonly [keyof TimeOrder, keyof TimeOrder, string])[] = [
  ['sesTimeoutSeconds', 'functionTimeoutSeconds', 'the function would be killed in the middle of a call to SES'],
  ['functionTimeoutSeconds', 'leaseSeconds', 'a second worker could send while the first one still does'],
  ['leaseSeconds', 'visibilitySeconds', 'the message of a dead worker would come back before its lease is over'],
  ['feedbackTimeoutSeconds', 'feedbackVisibilitySeconds', 'an event would be handed out again while it is being applied'],
  ['behindAfterSeconds', 'watermarkMarginSeconds', 'a mail could be taken as unsent whose event still waits in the queue'],
];

/** What is wrong with the order of the times; empty if nothing is. @param queueSeconds how long an event may lie in the feedback queue although nothing is behind */
export const faultsOfTimeOrder = (times: TimeOrder, queueSeconds: number): string[] => {
  const faults = ORDER.filter(([shorter, longer]) => times[shorter] >= times[longer]).map(
    ([shorter, longer, otherwise]) =>
      `${shorter} (${times[shorter]}) must be less than ${longer} (${times[longer]}), or ${otherwise}`,
  );
  const { feedbackVisibilitySeconds: visibility, leaseSeconds } = times;
  if (visibility * DELIVERIES_IN_A_LEASE > leaseSeconds) {
    faults.push(
      `${DELIVERIES_IN_A_LEASE} × feedbackVisibilitySeconds (${visibility}) must not exceed leaseSeconds (${leaseSeconds}), or a mail could be sent again whose event was only late`,
    );
  }
  if (times.behindAfterSeconds <= queueSeconds) {
    faults.push(
      `behindAfterSeconds (${times.behindAfterSeconds}) must be more than ${queueSeconds}, the time that an event may lie in the queue, or feedback would always count as behind`,
    );
  }
  return faults;
};
