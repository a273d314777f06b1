import type { Attempt } from './attempt.ts';

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

/** The attempts of a recipient, of any round, whose mail may have arrived though no answer of SES says so. */
export const possibleCopies = (attempts: readonly Attempt[]): PossibleCopy[] =>
  attempts.flatMap((attempt) => {
    const reason = reasonOf(attempt);
    const { round, n, startedAt, code } = attempt;
    return reason === undefined ? [] : [{ round, n, startedAt, reason, ...(code !== undefined && { code }) }];
  });

const reasonOf = ({ outcome }: Attempt): PossibleCopyReason | undefined => {
  if (outcome === undefined) return 'no-answer-recorded';
  if (outcome === 'unclear') return 'answer-lost';
  return outcome === 'unsent' ? 'taken-as-unsent' : undefined;
};
