import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { SendSignal } from '../../../../lambda/application/send/finished-attempt.ts';
import {
  createAccountObserver,
  createSendObserver,
  createWaitObserver,
} from '../../../../lambda/handlers/send-recipients/signals.ts';
import { anAccount } from '../../../support/account-builders.ts';
import { aKey } from '../../../support/builders.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const METRICS = {
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
} as const satisfies Record<SendSignal['type'], string>;
const SIGNALS = Object.keys(METRICS) as SendSignal['type'][];

describe('what the sender tells', () => {
  it.each(SIGNALS)('of %s is a metric of the fixed list, without an id in a dimension (B2)', (type) => {
    createSendObserver(output.telemetry)({ type, key: aKey('kim@example.com'), round: 1, attempt: 2, code: 'CODE' });
    output.telemetry.metrics.publishStoredMetrics();

    expect(output.metrics()).toEqual([{ name: METRICS[type], value: 1, dimensions: ['service', 'Stage'] }]);
  });

  it('names a recipient by a hash in logs, since an id may be an address (S14)', () => {
    createSendObserver(output.telemetry)({ type: 'sent', key: aKey('kim@example.com'), round: 1, attempt: 2 });

    // The first 16 digits of SHA-256 of the id.
    expect(JSON.parse(output.text())).toMatchObject({
      signal: 'sent',
      dispatchId: 'd1spatch',
      recipient: '5d9a0087d4ccdb9b',
      round: 1,
      attempt: 2,
    });
    expect(output.text()).not.toContain('kim@example.com');
  });

  it.each([
    ['sent', 'INFO'],
    ['retry', 'INFO'],
    ['failed', 'WARN'],
    ['exhausted', 'WARN'],
    ['account-trouble', 'WARN'],
    ['unclear', 'WARN'],
    ['unknown', 'WARN'],
    ['not-recorded', 'WARN'],
  ] as const)('of %s is %s', (type, level) => {
    createSendObserver(output.telemetry)({ type, key: aKey() });

    expect(JSON.parse(output.text())).toMatchObject({ level });
  });
});

describe('how long a recipient waited', () => {
  const acceptedAt = (dispatchId: string) => (dispatchId === 'd1spatch' ? 1_000 : undefined);
  const told = (signal: SendSignal, clock = () => 4_500) => {
    createWaitObserver(output.telemetry, acceptedAt, clock)(signal);
    output.telemetry.metrics.publishStoredMetrics();
    return output.metrics();
  };

  it('is measured from accept to SES’s yes, without an id in a dimension (B2)', () => {
    expect(told({ type: 'sent', key: aKey(), round: 1 })).toEqual([
      { name: 'AcceptToSentSeconds', value: 3.5, dimensions: ['service', 'Stage'] },
    ]);
  });

  it('is never negative, whatever the clocks of two functions say', () => {
    expect(told({ type: 'sent', key: aKey(), round: 1 }, () => 900)).toMatchObject([{ value: 0 }]);
  });

  it.each<[string, SendSignal]>([
    ['a mail that was not sent', { type: 'failed', key: aKey(), round: 1 }],
    ['a later round, which a person began', { type: 'sent', key: aKey(), round: 2 }],
    ['a dispatch of which it is not known', { type: 'sent', key: { ...aKey(), dispatchId: 'other' }, round: 1 }],
  ])('is not measured for %s', (_, signal) => {
    expect(told(signal)).toEqual([]);
  });
});

it('the used share of the quota is one metric, without a dimension of its own (B2)', () => {
  createAccountObserver(output.telemetry)(anAccount({ perDay: 200, sentLastDay: 50 }));
  createAccountObserver(output.telemetry)(anAccount({ perDay: Infinity }));
  output.telemetry.metrics.publishStoredMetrics();

  expect(output.metrics()).toEqual([{ name: 'QuotaUsedShare', value: 0.25, dimensions: ['service', 'Stage'] }]);
});
