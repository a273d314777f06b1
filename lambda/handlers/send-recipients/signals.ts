import { shortHash } from '../../adapters/digest/short-hash.ts';
import type { SendSignal } from '../../application/attempt-end.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

/** The metric of each signal: a fixed list, since every name is billed. */
const METRIC: Readonly<Record<SendSignal['type'], string>> = {
  sent: 'MailSent',
  failed: 'MailFailed',
  exhausted: 'AttemptsExhausted',
  retry: 'AttemptRetried',
  throttled: 'AttemptThrottled',
  'account-trouble': 'AccountTrouble',
  unclear: 'OutcomeUnclear',
  resent: 'UnclearResent',
  unknown: 'OutcomeUnknown',
  reopened: 'RecipientReopened',
  'given-back': 'AttemptGivenBack',
  'not-recorded': 'OutcomeNotRecorded',
  broken: 'RecipientBroken',
  'unknown-dispatch': 'DispatchUnknown',
  expired: 'ContentExpired',
};

/** Signals that are the normal course of things; the others are worth a warning. */
const NORMAL: ReadonlySet<SendSignal['type']> = new Set(['sent', 'retry', 'throttled', 'given-back', 'reopened']);

/** Counts and logs what happened to a recipient, by ids alone. */
export const createSendObserver =
  ({ logger, count }: Telemetry) =>
  ({ type, key, round, attempt, code }: SendSignal): void => {
    count(METRIC[type]);
    const fields = { signal: type, dispatchId: key.dispatchId, recipient: shortHash(key.applyId), round, attempt, code };
    if (NORMAL.has(type)) logger.info('recipient', fields);
    else logger.warn('recipient', fields);
  };
