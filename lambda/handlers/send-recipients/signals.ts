import { MetricUnit } from '@aws-lambda-powertools/metrics';

import { shortHash } from '../../adapters/hashing/short-hash.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { SendSignal } from '../../application/send/finished-attempt.ts';
import type { PauseSignal } from '../../application/send/pause/pause-guard.ts';
import { type Account, usedShareOf } from '../../domain/sending/account.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import { redactError } from '../../observability/redact-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

/** The metric of each signal: a fixed list, since every name is billed. */
const METRIC: Readonly<Record<SendSignal['type'], string>> = {
  sent: 'MailSent',
  failed: 'MailFailed',
  exhausted: 'AttemptsExhausted',
  retry: 'AttemptRetried',
  throttled: 'AttemptThrottled',
  'account-trouble': 'AccountTrouble',
  'credentials-refused': 'CredentialsRefused',
  unclear: 'OutcomeUnclear',
  unknown: 'OutcomeUnknown',
  reopened: 'RecipientReopened',
  cancelled: 'RecipientCancelled',
  'given-back': 'AttemptGivenBack',
  'not-recorded': 'OutcomeNotRecorded',
  late: 'OutcomeRecordedLate',
  duplicate: 'DuplicateSent',
  stopped: 'DispatchStopped',
  broken: 'RecipientBroken',
  'unknown-dispatch': 'DispatchUnknown',
  expired: 'ContentExpired',
  gone: 'RecipientGone',
};

/** Signals that are the normal course of things; the others are worth a warning. */
const NORMAL: ReadonlySet<SendSignal['type']> = new Set(['sent', 'retry', 'throttled', 'given-back', 'reopened', 'cancelled']);

/** Counts and logs what happened to a recipient, by ids alone. */
export const createSendObserver =
  ({ logger, count }: Telemetry) =>
  ({ type, key, dispatchId, round, attempt, code }: SendSignal): void => {
    count(METRIC[type]);
    const whose = key ? { dispatchId: key.dispatchId, recipient: shortHash(key.applyId) } : { dispatchId };
    const fields = { signal: type, ...whose, round, attempt, code };
    if (NORMAL.has(type)) logger.info('recipient', fields);
    else logger.warn('recipient', fields);
  };

/**
 * Measures how long a recipient waited from accept to SES's yes. Of the first round only: how long ago the dispatch of a
 * redrive was accepted says nothing about the service.
 */
export const createWaitObserver =
  ({ metrics }: Telemetry, acceptedAt: (dispatchId: string) => Instant | undefined, clock: Clock) =>
  ({ type, key, round }: SendSignal): void => {
    const since = type === 'sent' && round === 1 && key !== undefined ? acceptedAt(key.dispatchId) : undefined;
    if (since === undefined) return;
    metrics.addMetric('AcceptToSentSeconds', MetricUnit.Seconds, Math.max(0, clock() - since) / 1000);
  };

/** Measures the used share of the account's quota for 24 hours, and logs when SES did not describe the account. */
export const createAccountObserver =
  ({ logger, metrics }: Telemetry) =>
  (result: Account | { readonly error: unknown }): void => {
    if ('error' in result) {
      logger.warn('account not read', redactError(result.error));
      return;
    }
    const usedShare = usedShareOf(result);
    if (usedShare !== undefined) metrics.addMetric('QuotaUsedShare', MetricUnit.NoUnit, usedShare);
  };

const PAUSE_METRIC: Readonly<Record<PauseSignal['type'], string>> = {
  paused: 'SendingPaused',
  'pause-prolonged': 'SendingPauseProlonged',
  resumed: 'SendingResumed',
  'canary-unusable': 'CanaryUnusable',
};

/** Counts and logs every change of the pause, once: only the sender that made it tells. */
export const createPauseObserver =
  ({ logger, count }: Telemetry) =>
  ({ type, code }: PauseSignal): void => {
    count(PAUSE_METRIC[type]);
    logger.warn('sending', { signal: type, code });
  };
