import { shortHash } from '../../adapters/hashing/short-hash.ts';
import type { FeedbackSignal } from '../../application/feedback/apply-event.ts';
import { redactError } from '../../observability/redact-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

/** The metric of each signal: a fixed list, since every name is billed. */
const METRIC: Readonly<Record<FeedbackSignal['type'], string>> = {
  send: 'MailTaken',
  delivery: 'MailDelivered',
  'delivery-delay': 'MailDelayed',
  bounce: 'MailBounced',
  'soft-bounce': 'MailSoftBounced',
  complaint: 'MailComplained',
  reject: 'MailRejected',
  'rendering-failure': 'MailNotRendered',
  suppressed: 'MailSuppressed',
  confirmed: 'OutcomeConfirmed',
  late: 'OutcomeConfirmedLate',
  duplicate: 'DuplicateSent',
  gone: 'FeedbackRecipientGone',
  failed: 'FeedbackNotApplied',
  canary: 'CanaryHeard',
  ignored: 'FeedbackIgnored',
  foreign: 'FeedbackForeign',
  malformed: 'FeedbackMalformed',
  'unapplied-not-kept': 'UnappliedEventsNotKept',
  behind: 'FeedbackBehind',
  'watermark-failed': 'WatermarkNotMoved',
};

/** Signals that are the normal course of things; the others are worth a warning. */
const NORMAL: ReadonlySet<FeedbackSignal['type']> = new Set([
  'send',
  'delivery',
  'delivery-delay',
  'bounce',
  'soft-bounce',
  'suppressed',
  'confirmed',
  'canary',
  'ignored',
  'foreign',
]);

/** Counts and logs what came of an event, by ids and codes alone. */
export const createFeedbackObserver =
  ({ logger, count }: Telemetry) =>
  ({ type, key, round, attempt, detail, from, error }: FeedbackSignal): void => {
    count(METRIC[type]);
    const fields = {
      signal: type,
      ...(key && { dispatchId: key.dispatchId, recipient: shortHash(key.applyId) }),
      round,
      attempt,
      detail,
      from,
      ...(error !== undefined && redactError(error)),
    };
    if (NORMAL.has(type)) logger.info('feedback', fields);
    else logger.warn('feedback', fields);
  };
