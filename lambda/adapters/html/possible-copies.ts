import type { Attempt } from '../../domain/recipient/attempt.ts';
import { type CopyRisk, copyRisk, possibleCopies, type PossibleCopyReason } from '../../domain/recipient/possible-copies.ts';
import type { Recipient } from '../../domain/recipient/recipient.ts';
import { time, warning } from './frame.ts';
import { type Html, html, type HtmlValue } from './html.ts';

const REASONS: Readonly<Record<PossibleCopyReason, string>> = {
  'no-answer-recorded': 'the sender stopped before it recorded an answer',
  'answer-lost': 'no answer of SES said whether it took the mail',
  'taken-as-unsent': 'SES published no event about it',
};

const MEANINGS: Readonly<Record<CopyRisk, string>> = {
  'another-copy-follows': 'A retry may send another copy.',
  'another-copy-sent': 'The recipient may have more than one copy.',
  'no-copy-follows': 'The recipient may have the mail.',
};

/** Names the attempts whose mail may have arrived; false: there are none, and nothing else to warn of. */
export const possibleCopiesWarning = (recipient: Recipient, attempts: readonly Attempt[]): Html | false => {
  const copies = possibleCopies(recipient, attempts).map(({ round, n, startedAt, reason, code }, i): HtmlValue => [
    i > 0 && '; ',
    ['attempt ', n, ' of round ', round, ', started at ', time(startedAt), ' (', REASONS[reason]],
    code !== undefined && [', ', html`<code>${code}</code>`],
    ')',
  ]);
  if (copies.length === 0 && recipient.status !== 'UNKNOWN') return false;
  return warning(copies.length > 0 && ['These attempts may have sent the mail: ', copies, '. '], MEANINGS[copyRisk(recipient)]);
};
