import { applyIdOf, type RawRow } from '../../local/table-rows.ts';
import type { JournalMail } from './journal.ts';

/** Somebody who was to get a mail. */
export interface Requested {
  readonly applyId: string;
  readonly email: string;
}

/** What can be seen from outside once a dispatch has come to its end. */
export interface RecordedOutput {
  readonly requested: readonly Requested[];
  readonly rows: readonly RawRow[];
  /** The mails of the dispatch that SES took. */
  readonly mails: readonly JournalMail[];
}

/** What the circumstances allow. */
export interface Allowed {
  /** Recipients that may have got more than one mail. */
  readonly duplicates: number;
  readonly attemptsPerRound: number;
  /** Whether SES's events arrive: then every mail that SES took is known. */
  readonly events: boolean;
}

/** What became of the recipients of a dispatch. */
export interface Tally {
  readonly total: number;
  readonly sent: number;
  readonly failed: number;
  readonly unknown: number;
  readonly cancelled: number;
  /** Without a mail, and without a state that says why. */
  readonly lost: number;
  /** With more than one mail. */
  readonly duplicates: number;
}

const applyIdOfMail = ({ tags }: JournalMail): string => Buffer.from(tags['recipient'] ?? '', 'base64url').toString();

/** Whether nobody knows of the attempt if SES took its mail; `unsent` is no proof. */
const isUnclear = ({ outcome }: RawRow['attempts'][number]): boolean =>
  outcome === undefined || outcome === 'unclear' || outcome === 'unsent';

const saysWhy = ({ status, lastErrorCode }: RawRow): boolean =>
  status === 'UNKNOWN' || status === 'CANCELLED' || (status === 'FAILED' && lastErrorCode !== undefined);

/** What is wrong with one recipient, given its rows and its mails. */
const faultsOf = (
  { email }: Requested,
  rows: readonly RawRow[],
  mails: readonly JournalMail[],
  { attemptsPerRound, events }: Allowed,
): string[] => {
  const [row] = rows;
  if (row === undefined || rows.length !== 1) return [`has ${rows.length} rows`];
  const faults: string[] = [];
  const { status, round, attemptCount, attempts } = row;
  if (!['SENT', 'FAILED', 'UNKNOWN', 'CANCELLED'].includes(status)) faults.push(`is still ${status}`);
  if (row.email !== email) faults.push('has another address in its row');
  if (mails.some(({ to }) => to.length !== 1 || to[0] !== email)) faults.push('had a mail sent to another address');
  if (status === 'SENT' && !mails.some(({ messageId }) => messageId === row.messageId)) {
    faults.push('is SENT by a message id that SES never gave');
  }
  if (events && mails.length > 0 && status !== 'SENT') faults.push(`is ${status}, but SES took a mail`);
  const unclear = attempts.filter((attempt) => (attempt.round ?? round) === round && isUnclear(attempt)).length;
  if (status === 'UNKNOWN' && unclear === 0) faults.push('is UNKNOWN without an unclear attempt');
  // While events come, one lost answer is followed by one more mail.
  if (events && status === 'UNKNOWN' && row.lastErrorCode === 'OUTCOME_UNCLEAR' && unclear < Math.min(2, attemptsPerRound))
    faults.push('is UNKNOWN after one unclear attempt');
  if (mails.length === 0 && !saysWhy(row)) faults.push(`got no mail, and ${status} does not say why`);
  const made = attempts.filter((attempt) => (attempt.round ?? round) === round && attempt.outcome !== 'given-back');
  if (attemptCount > attemptsPerRound || made.length > attemptsPerRound) faults.push('was tried too often');
  // A second mail is either known by its id, or an attempt says that nobody knows of it.
  const hidden = mails.filter(({ messageId }) => !attempts.some((attempt) => attempt.messageId === messageId)).length;
  if (status === 'SENT' && hidden > (events ? 0 : attempts.filter(isUnclear).length)) {
    faults.push(`got ${mails.length} mails, of which its attempts hide ${hidden}`);
  }
  return faults;
};

/** Compares what was asked for, what SES took, and what the table says. @returns the tally, and each fault in words */
export const examine = (
  { requested, rows, mails }: RecordedOutput,
  allowed: Allowed,
): { readonly tally: Tally; readonly faults: readonly string[] } => {
  const rowsBy = Map.groupBy(rows, applyIdOf);
  const mailsBy = Map.groupBy(mails, applyIdOfMail);
  const faults = requested.flatMap((each) => {
    const { applyId } = each;
    return faultsOf(each, rowsBy.get(applyId) ?? [], mailsBy.get(applyId) ?? [], allowed).map((fault) => `${applyId} ${fault}`);
  });
  const known = new Set(requested.map(({ applyId }) => applyId));
  for (const applyId of new Set([...rowsBy.keys(), ...mailsBy.keys()])) {
    if (!known.has(applyId)) faults.push(`${applyId} was never asked for`);
  }
  const duplicates = [...mailsBy.values()].filter((each) => each.length > 1).length;
  if (duplicates > allowed.duplicates) faults.push(`${duplicates} recipients got more than one mail`);

  const count = (status: string) => rows.filter((row) => row.status === status).length;
  const lost = requested.filter(({ applyId }) => {
    const [row] = rowsBy.get(applyId) ?? [];
    return !mailsBy.has(applyId) && (row === undefined || !saysWhy(row));
  }).length;
  return {
    tally: {
      total: requested.length,
      sent: count('SENT'),
      failed: count('FAILED'),
      unknown: count('UNKNOWN'),
      cancelled: count('CANCELLED'),
      lost,
      duplicates,
    },
    faults,
  };
};
