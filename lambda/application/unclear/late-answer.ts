import { type Proof, prove, type Proven } from '../../domain/recipient/proof.ts';
import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import type { RecipientRepository, StoredRecipient } from '../ports/ports.ts';

/**
 * Records that SES took a mail whose lease was over when it said so. The row may have been resolved since, but as long as
 * no other worker claimed it, what SES answered is the better knowledge; beside another's mail it is a duplicate.
 * @returns what came of it; undefined: it is left to SES's event
 */
export const recordLateAnswer = async (
  recipients: RecipientRepository,
  key: RecipientKey,
  proof: Proof,
): Promise<Exclude<Proven['outcome'], 'known'> | undefined> => {
  let proven: Proven | undefined;
  const written = await recipients
    .amend(key, (row) => {
      proven = mayRecord(row, proof) ? prove(row.recipient, row.attempts, proof) : undefined;
      if (proven === undefined || proven.outcome === 'known') return undefined;
      return { ...row, recipient: proven.next, attempts: proven.attempts };
    })
    .catch(() => 'unavailable' as const);
  return written === 'written' && proven !== undefined && proven.outcome !== 'known' ? proven.outcome : undefined;
};

const mayRecord = ({ recipient, attempts }: StoredRecipient, { lease }: Proof): boolean =>
  recipient.status === 'SENT' || attempts.at(-1)?.lease === lease;
