import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { createUnreadableObserver } from '../../../../lambda/observability/unreadable-items.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

it('an item that cannot be read is counted, and logged by its kind', () => {
  createUnreadableObserver(output.telemetry)('CONTROL SES_READS');
  output.telemetry.metrics.publishStoredMetrics();

  expect(output.metrics()).toEqual([{ name: 'ItemUnreadable', value: 1, dimensions: ['service', 'Stage'] }]);
  expect(output.text()).toContain('"item":"CONTROL SES_READS"');
});
