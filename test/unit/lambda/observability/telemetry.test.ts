import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { neverThrow } from '../../../../lambda/observability/telemetry.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

it('a metric counts one unless told otherwise, under the service and the stage alone (B2)', () => {
  output.telemetry.count('MailSent');
  output.telemetry.count('RecipientReEnqueued', 12);
  output.telemetry.metrics.publishStoredMetrics();

  expect(output.metrics()).toEqual([
    { name: 'MailSent', value: 1, dimensions: ['service', 'Stage'] },
    { name: 'RecipientReEnqueued', value: 12, dimensions: ['service', 'Stage'] },
  ]);
});

it('trouble of an observer stays with the observer (U10)', () => {
  const observe = neverThrow<string>(() => {
    throw new Error('metrics are down');
  });

  expect(() => {
    observe('sent');
  }).not.toThrow();
});
