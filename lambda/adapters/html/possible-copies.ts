import type { Attempt } from '../../domain/attempt.ts';
import { possibleCopies, type PossibleCopyReason } from '../../domain/possible-copies.ts';
import { time, warning } from './frame.ts';
import { type Html, html, type HtmlValue } from './html.ts';

const REASONS: Readonly<Record<PossibleCopyReason, string>> = {
  'no-answer-recorded': 'the sender stopped before it recorded an answer',
  'answer-lost': 'no answer of SES said whether it took the mail',
  'taken-as-unsent': 'SES published no event about it',
};

/** Names the attempts of an UNKNOWN recipient whose mail may have arrived. */
export const possibleCopiesWarning = (attempts: readonly Attempt[]): Html => {
  const copies = possibleCopies(attempts).map(({ round, n, startedAt, reason, code }, i): HtmlValue => [
    i > 0 && '; ',
    ['attempt ', n, ' of round ', round, ', started at ', time(startedAt), ' (', REASONS[reason]],
    code !== undefined && [', ', html`<code>${code}</code>`],
    ')',
  ]);
  return warning(
    copies.length > 0 && ['These attempts may have sent the mail: ', copies, '. '],
    'A retry may send another copy.',
  );
};
