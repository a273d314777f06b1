import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import { confirmSend, type Proven, type SendConfirmation } from '../../domain/recipient/send-confirmation.ts';
import type { RecipientRepository, StoredRecipient } from '../ports/recipients.ts';

/**
 * Records that SES took a mail whose lease was over when it said so. The row may have been resolved since, but as long as
 * no other worker claimed it, what SES answered is the better knowledge; beside another's mail it is a duplicate.
 * @returns what came of it; undefined: it is left to SES's event
 */
export const recordLateAnswer = async (
  recipients: RecipientRepository,
  key: RecipientKey,
  confirmation: SendConfirmation,
): Promise<Exclude<Proven['outcome'], 'known'> | undefined> => {
  let confirmed: Proven | undefined;
  const written = await recipients
    .applyPatch(key, (row) => {
      confirmed = mayRecord(row, confirmation) ? confirmSend(row.recipient, row.attempts, confirmation) : undefined;
      if (confirmed === undefined || confirmed.outcome === 'known') return undefined;
      return { ...row, recipient: confirmed.next, attempts: confirmed.attempts };
    })
    .catch(() => 'unavailable' as const);
  return written === 'written' && confirmed !== undefined && confirmed.outcome !== 'known' ? confirmed.outcome : undefined;
};

const mayRecord = ({ recipient, attempts }: StoredRecipient, { lease }: SendConfirmation): boolean =>
  recipient.status === 'SENT' || attempts.at(-1)?.lease === lease;
