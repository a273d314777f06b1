import { expect, it } from 'vitest';

import { ScheduleEvent } from '../../../../../lambda/contracts/events/schedule-event.ts';

it.each<[string, unknown, boolean]>([
  ['of EventBridge', { source: 'aws.events', detail: {} }, false],
  ['of a start', { detail: { atStart: true } }, true],
  ['without a detail', {}, false],
])('a schedule event %s is understood', (_name, event, atStart) => {
  expect(ScheduleEvent.parse(event)).toEqual({ detail: { atStart } });
});
