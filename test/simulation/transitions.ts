import type { Recipient } from '../../lambda/domain/recipient/recipient.ts';
import type { Cause } from './table.ts';

/** Every change of a recipient that design and domain allow, by what writes it; rounds and attempts are looked at apart. */
const ALLOWED: Readonly<Record<Cause, readonly `${Recipient['status']} → ${Recipient['status']}`[]>> = {
  claim: ['PENDING → PROCESSING'],
  write: ['PROCESSING → SENT', 'PROCESSING → FAILED', 'PROCESSING → PENDING', 'PROCESSING → UNKNOWN', 'PROCESSING → PROCESSING'],
  resolve: ['PROCESSING → PENDING', 'PROCESSING → UNKNOWN'],
  cancel: ['PENDING → CANCELLED'],
  reopen: ['FAILED → PENDING', 'UNKNOWN → PENDING'],
  amend: [
    'PENDING → SENT',
    'PROCESSING → SENT',
    'FAILED → SENT',
    'UNKNOWN → SENT',
    'CANCELLED → SENT',
    // Its attempts, its delivery or its events.
    'SENT → SENT',
  ],
};

/** What is wrong with a change; undefined: nothing. */
export const faultOfTransition = (before: Recipient, after: Recipient, cause: Cause): string | undefined => {
  const change = `${before.status} → ${after.status}` as const;
  if (!ALLOWED[cause].includes(change)) return `${cause} made ${change}`;
  if (after.round !== before.round + (cause === 'reopen' ? 1 : 0))
    return `${change} made round ${after.round} of ${before.round}`;
  if (after.attemptCount < 0) return `${change} left ${after.attemptCount} attempts`;
  const spent = after.attemptCount - before.attemptCount;
  if (cause === 'claim') return spent === 1 ? undefined : 'a claim did not count as one attempt';
  if (cause === 'reopen') return after.attemptCount === 0 ? undefined : 'a new round began with attempts';
  // A claim beyond the last attempt is ended without one.
  const mayGiveBack = change === 'PROCESSING → PENDING' || change === 'PROCESSING → FAILED';
  if (spent !== 0 && !(mayGiveBack && spent === -1)) return `${change} changed the number of attempts by ${spent}`;
  return faultOfSame(before, after);
};

const faultOfSame = (before: Recipient, after: Recipient): string | undefined => {
  if (before.status === 'SENT' && after.status === 'SENT' && before.messageId !== after.messageId) return 'SENT changed its mail';
  if (before.status === 'PROCESSING' && after.status === 'PROCESSING' && before.lease.token !== after.lease.token) {
    return 'a lease was taken over';
  }
  return undefined;
};
