import type { Details, RecipientSeen } from '../../application/ports/queries.ts';
import type { Attempt } from '../../domain/recipient/attempt.ts';
import type { MailEvent } from '../../domain/recipient/delivery.ts';
import { sentence, table, time } from './frame.ts';
import { type Html, html, type HtmlValue } from './html.ts';
import { possibleCopiesWarning } from './possible-copies.ts';
import { deliverySentence, stateSentence } from './recipient-words.ts';

/** What became of one recipient, in plain sentences and then in detail. */
export const recipientPart = (seen: RecipientSeen, details: Details): readonly HtmlValue[] => {
  const { applyId, email, recipient, attempts, events, settled } = seen;
  const { status, round, attemptCount } = recipient;
  return [
    html`<h3>Recipient <code>${applyId}</code></h3>`,
    sentence(
      [html`<b>${status}</b>`, ', ', email, ', round ', round],
      attemptCount === 0 ? ', no attempt in it yet.' : [', attempt ', attemptCount, ' of that round.'],
    ),
    stateSentence(seen, details),
    possibleCopiesWarning(recipient, attempts),
    status === 'SENT' && deliverySentence(seen.delivery),
    settled && sentence('Settled as ', settled.as, ' by ', settled.who, ' at ', time(settled.at), '.'),
    attemptsTable(attempts),
    eventsTable(events),
  ];
};

const attemptsTable = (attempts: readonly Attempt[]): Html =>
  attempts.length === 0
    ? sentence('No attempt has been made.')
    : html`<h3>Attempts</h3>
        ${table(
          ['round', 'attempt', 'started', 'took', 'outcome', 'code', 'message id'],
          attempts.map(({ round, n, startedAt, ms, outcome, code, messageId }) => [
            round,
            n,
            time(startedAt),
            ms !== undefined && [ms, ' ms'],
            outcome ?? 'open',
            code,
            messageId !== undefined && html`<code>${messageId}</code>`,
          ]),
        )}`;

const eventsTable = (events: readonly MailEvent[]): Html =>
  events.length === 0
    ? sentence('No event about its delivery is stored.')
    : html`<h3>What SES told</h3>
        ${table(
          ['event', 'when', 'detail', 'message id'],
          events.map(({ kind, at, detail, suppressed = false, messageId }) => [
            kind,
            time(at),
            [detail, suppressed && ' (suppressed)'],
            html`<code>${messageId}</code>`,
          ]),
        )}`;
