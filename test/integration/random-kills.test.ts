import { expect, it } from 'vitest';

import { runChaos } from '../chaos/run.ts';
import { lookForLeaks } from '../leak-scan/look.ts';
import { markersOfRequest } from '../leak-scan/markers.ts';

it('a dispatch is sent to its end, each mail once, while processes are killed at random and SES misbehaves (L9, U7)', async () => {
  const report = await runChaos({
    recipients: 200,
    seed: 7,
    policy: 'auto',
    events: true,
    killEverySeconds: 2,
    mailsPerSecond: 40,
    patienceSeconds: 400,
    onEnd: (directory, body) => {
      lookForLeaks(directory, markersOfRequest(JSON.stringify(body)));
    },
  });

  expect(report.faults).toEqual([]);
  expect(report).toMatchObject({ total: 200, cancelled: 0, lost: 0, duplicates: 0, status: 'COMPLETED' });
  // Who lost two answers in a round is UNKNOWN; the faults above say so of anybody else.
  expect(report.sent + report.failed + report.unknown).toBe(200);
  expect(report.unknown).toBeLessThan(10);
  expect(report.kills).toBeGreaterThanOrEqual(3);
});
