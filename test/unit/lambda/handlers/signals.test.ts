import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { SendSignal } from '../../../../lambda/application/attempt-end.ts';
import { createSendObserver } from '../../../../lambda/handlers/send-recipients/signals.ts';
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
  unclear: 'OutcomeUnclear',
  waited: 'UnclearWaiting',
  unsent: 'UnclearUnsent',
  resent: 'UnclearResent',
  unknown: 'OutcomeUnknown',
  canary: 'CanarySent',
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
} as const satisfies Record<SendSignal['type'], string>;
const SIGNALS = Object.keys(METRICS) as SendSignal['type'][];

describe('what the sender tells', () => {
  it.each(SIGNALS)('of %s is a metric of the fixed list, without an id in a dimension (B2)', (type) => {
    createSendObserver(output.telemetry)({ type, key: aKey('kim@example.com'), round: 1, attempt: 2, code: 'CODE' });
    output.telemetry.metrics.publishStoredMetrics();

    expect(output.metrics()).toEqual([{ name: METRICS[type], value: 1, dimensions: ['service'] }]);
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
