import type { Details, RecipientSeen } from '../../application/ports/queries.ts';
import type { DispatchStatus } from '../../domain/dispatch/dispatch.ts';
import type { Attempt } from '../../domain/recipient/attempt.ts';
import type { DeliveryState } from '../../domain/recipient/delivery.ts';
import { ATTEMPTS_EXHAUSTED, type RecipientIn, SETTLED_BY_OPERATOR } from '../../domain/recipient/recipient.ts';
import type { UnclearPolicy } from '../../domain/recipient/unclear.ts';
import { BAD_DELIVERIES } from '../../domain/sending/trouble.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import { runbook, sentence, time, warning } from './frame.ts';
import { type Html, html, type HtmlValue } from './html.ts';

/** What the state means, and what happens next. */
export const stateSentence = ({ recipient, attempts }: RecipientSeen, { dispatch, unclearPolicy, now }: Details): Html => {
  switch (recipient.status) {
    case 'PENDING':
      return sentence(pendingWords(recipient, dispatch.status, now));
    case 'PROCESSING': {
      const attempt = attempts.find(({ lease }) => lease === recipient.lease.token);
      const unclear = attempt?.outcome === 'unclear' ? attempt : undefined;
      return sentence(processingWords(recipient, unclear, afterLease(unclearPolicy, dispatch.status), now));
    }
    case 'SENT':
      return recipient.messageId === undefined
        ? sentence('By a person’s word the mail was sent; SES itself has said nothing of it.')
        : sentence('SES took the mail at ', time(recipient.sentAt), ' as ', code(recipient.messageId), '.');
    case 'FAILED':
      return warning(failedWords(recipient, attempts, dispatch.status));
    case 'UNKNOWN':
      return warning(
        [
          'SES was asked to send the mail. By ',
          time(recipient.failedAt),
          ' neither an answer nor an event of SES had said whether it took the mail. ',
        ],
        ['Nothing sends again on a guess; a late event still settles it. Runbook: ', runbook('outcome-unknown')],
      );
    case 'CANCELLED':
      return sentence('Cancelled at ', time(recipient.cancelledAt), ': no mail goes out.');
  }
};

const code = (text: string): Html => html`<code>${text}</code>`;

const pendingWords = (
  { nextAttemptAt, lastErrorCode }: RecipientIn<'PENDING'>,
  dispatch: DispatchStatus,
  now: Instant,
): readonly HtmlValue[] => {
  const last = lastErrorCode !== undefined && [' The last attempt ended with ', code(lastErrorCode), '.'];
  if (dispatch === 'STOPPED') return ['Its dispatch is stopped: it waits until that is resumed.', last];
  if (dispatch === 'CANCELLED') return ['Its dispatch is cancelled: it becomes CANCELLED soon.', last];
  return nextAttemptAt > now
    ? ['Waits for its next attempt, which is due at ', time(nextAttemptAt), '.', last]
    : ['Due since ', time(nextAttemptAt), ', and waits for its turn.', last];
};

/** What follows when a lease ends and nothing tells whether SES took the mail. */
const afterLease = (policy: UnclearPolicy, dispatch: DispatchStatus): string => {
  switch (policy) {
    case 'auto':
      return 'SES’s events decide whether SES took the mail';
    case 'manual':
      return 'it is UNKNOWN, and a person decides';
    case 'resend':
      if (dispatch === 'CANCELLED') return 'it is CANCELLED or UNKNOWN, since its dispatch is cancelled';
      if (dispatch === 'STOPPED') return 'it waits until its dispatch is resumed, or is UNKNOWN';
      return 'the mail is sent once more, also to one who has it, and is UNKNOWN when that outcome is unclear, too';
  }
};

/**
 * @param unclear the attempt, if nothing that came in answer says whether SES took the mail
 * @param then what follows the end of the lease
 */
const processingWords = (
  { lease }: RecipientIn<'PROCESSING'>,
  unclear: Attempt | undefined,
  then: string,
  now: Instant,
): readonly HtmlValue[] => {
  const until = time(lease.until);
  if (lease.until <= now) return ['Its lease ended at ', until, ' with the outcome open: next, ', then, '.'];
  if (unclear === undefined)
    return ['A sender has it in hand. Should nothing come of it, its lease ends at ', until, '; then ', then, '.'];
  const cause =
    unclear.answered === true
      ? 'SES answered with an error that leaves open whether it took the mail'
      : 'No answer of SES came that says whether it took the mail';
  const reason = unclear.code !== undefined && [' (', code(unclear.code), ')'];
  return [cause, reason, '. Waiting for its lease to end at ', until, '; then ', then, '.'];
};

const failedWords = (
  { lastErrorCode, failedAt, round }: RecipientIn<'FAILED'>,
  attempts: RecipientSeen['attempts'],
  dispatch: DispatchStatus,
): readonly HtmlValue[] => {
  const at = time(failedAt);
  if (lastErrorCode === SETTLED_BY_OPERATOR) return ['By a person’s word the mail was not sent, at ', at, '.'];
  if (lastErrorCode !== ATTEMPTS_EXHAUSTED) {
    const wayOn = againWords(dispatch, 'A retry sends again once the cause is cured.');
    return ['Refused for good at ', at, ' with ', code(lastErrorCode), '. ', wayOn, ' Runbook: ', runbook('mails-refused')];
  }
  const cause = attempts.findLast(({ code: last }) => last !== undefined)?.code;
  return [
    ['All attempts of round ', round, ' were used up at ', at],
    cause !== undefined && [', the last with ', code(cause)],
    ['. ', againWords(dispatch, 'Redrive its dead letter, or retry.'), ' Runbook: ', runbook('send-dead-letters')],
  ];
};

/** @param words how it is sent again as long as its dispatch is */
const againWords = (dispatch: DispatchStatus, words: string): string => {
  if (dispatch === 'CANCELLED') return 'Its dispatch is cancelled: nothing of it is sent again.';
  return dispatch === 'STOPPED' ? 'Its dispatch is stopped: nothing of it is sent before that is resumed.' : words;
};

const DELIVERIES: Readonly<Record<DeliveryState, string>> = {
  none: 'No event tells yet how far it got.',
  delayed: 'The receiving server does not take it for now; SES keeps trying.',
  'soft-bounced':
    'It bounced for now: SES gave up after trying for a while, or an automatic reply came. The address may still be right.',
  delivered: 'The receiving server took it.',
  rejected: 'SES threw it away: it found malware in it, or could not make the mail.',
  suppressed: 'SES did not try: the address is on a suppression list, since earlier mails bounced or were complained about.',
  bounced: 'It bounced: the receiving server refused it for good.',
  complained: 'Its receiver marked it as spam.',
};

const isBadDelivery = (delivery: DeliveryState): boolean => BAD_DELIVERIES.some((bad) => bad === delivery);

/** How far a mail got after SES took it. */
export const deliverySentence = (delivery: DeliveryState): Html =>
  (isBadDelivery(delivery) ? warning : sentence)('Delivery: ', html`<b>${delivery}</b>. `, DELIVERIES[delivery]);
