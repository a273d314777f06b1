import type { Attempt } from './attempt.ts';
import type { Recipient } from './recipient.ts';

/** Why it is not known whether SES took the mail of an attempt. */
export const POSSIBLE_COPY_REASONS = [
  /** The sender stopped before it recorded an answer. */
  'no-answer-recorded',
  /** SES's answer was lost, or did not tell. */
  'answer-lost',
  /** SES published no event about it, which does not prove that the mail was not taken. */
  'taken-as-unsent',
] as const;

export type PossibleCopyReason = (typeof POSSIBLE_COPY_REASONS)[number];

/** An attempt whose mail may have arrived. */
export interface PossibleCopy extends Pick<Attempt, 'round' | 'n' | 'startedAt' | 'code'> {
  readonly reason: PossibleCopyReason;
}

/**
 * The attempts of a recipient, of any round, whose mail may have arrived though no answer of SES says so. The attempt that a
 * sender may still be making is none of them.
 */
export const possibleCopies = (recipient: Recipient, attempts: readonly Attempt[]): PossibleCopy[] =>
  attempts.flatMap((attempt) => {
    const reason = isUnderWay(recipient, attempt) ? undefined : reasonOf(attempt);
    const { round, n, startedAt, code } = attempt;
    return reason === undefined ? [] : [{ round, n, startedAt, reason, ...(code !== undefined && { code }) }];
  });

const isUnderWay = (recipient: Recipient, { lease, outcome }: Attempt): boolean =>
  recipient.status === 'PROCESSING' && recipient.lease.token === lease && outcome === undefined;

/** What possible copies mean in the state of the recipient: copies of a mail that SES took, or copies that another mail may follow. */
export type CopyRisk = 'another-copy-sent' | 'another-copy-follows' | 'no-copy-follows';

/** What the possible copies of a recipient mean. */
export const copyRisk = (recipient: Recipient): CopyRisk => {
  switch (recipient.status) {
    case 'SENT':
      return recipient.messageId === undefined ? 'no-copy-follows' : 'another-copy-sent';
    case 'CANCELLED':
      return 'no-copy-follows';
    case 'PENDING':
    case 'PROCESSING':
    case 'FAILED':
    case 'UNKNOWN':
      return 'another-copy-follows';
  }
};

const reasonOf = ({ outcome }: Attempt): PossibleCopyReason | undefined => {
  if (outcome === undefined) return 'no-answer-recorded';
  if (outcome === 'unclear') return 'answer-lost';
  return outcome === 'unsent' ? 'taken-as-unsent' : undefined;
};
