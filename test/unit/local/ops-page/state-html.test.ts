import { describe, expect, it } from 'vitest';

import { EventRule } from '../../../../local/fake-ses/events/rules.ts';
import { PlannedFault } from '../../../../local/fake-ses/faults/plan.ts';
import type { OpsState } from '../../../../local/ops-page/state.ts';
import { stateHtml } from '../../../../local/ops-page/state-html.ts';

const WELL: OpsState = {
  queues: [{ name: 'sends', visible: 1, delayed: 2, inFlight: 3, dead: 0 }],
  fakeSes: {
    account: {
      EnforcementStatus: 'HEALTHY',
      ProductionAccessEnabled: true,
      SendingEnabled: true,
      SendQuota: { Max24HourSend: 1, MaxSendRate: 1, SentLast24Hours: 0 },
    },
    faults: [],
    events: [],
    calls: [],
  },
};
const show = (changes: Partial<OpsState>): string => stateHtml({ ...WELL, ...changes }).replaceAll(/\s+/g, ' ');
const showFakeSes = (changes: Partial<OpsState['fakeSes']>): string => show({ fakeSes: { ...WELL.fakeSes, ...changes } });

describe('what stands around the widget', () => {
  it('says that all is well, with a backlog and nothing to move back', () => {
    const text = show({});

    expect(text).toContain('No faults are ordered');
    expect(text).toContain('<td>1</td> <td>2</td> <td>3</td> <td>0</td>');
    expect(text).not.toContain('<button');
    expect(text).not.toContain('class="wrong"');
  });

  it('offers to move dead letters back where there are some', () => {
    const text = show({ queues: [{ name: 'sends', visible: 0, delayed: 0, inFlight: 0, dead: 4 }] });

    expect(text).toContain('<button id="redrive-sends" data-queue="sends" data-dead="4">');
  });

  it('names what was ordered at the SES gate, without whole addresses', () => {
    const text = showFakeSes({
      account: { ...WELL.fakeSes.account, SendingEnabled: false },
      faults: [PlannedFault.parse({ fault: 'throttle', recipient: 'kim@example.com', times: 3 })],
      events: [EventRule.parse({ delaySeconds: 360 })],
    });

    expect(text).toContain('The account may not send.');
    expect(text).toContain('Calls meet throttle: times 3, recipient k…@example.com, operation SendEmail');
    expect(text).toContain('delaySeconds 360');
  });

  it('lists the newest calls, addresses masked and names escaped', () => {
    const text = showFakeSes({
      calls: [
        { at: '2026-03-04T05:06:07.000Z', recipient: 'kim@example.com', outcome: 'taken', messageId: 'm-1' },
        { at: '2026-03-04T05:06:06.000Z', recipient: '<img>@example.com', outcome: 'refused: X (400)' },
      ],
    });

    expect(text).toContain('<td>k…@example.com</td> <td>taken</td> <td>m-1</td>');
    expect(text).toContain('<td>refused: X (400)</td>');
    expect(text).not.toMatch(/kim@|<img/);
  });
});
