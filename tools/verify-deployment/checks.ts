import type { Check } from './check.ts';
import { acceptMany } from './checks/accept-many.ts';
import { acceptOne } from './checks/accept-one.ts';
import { alarmsAfter, alarmsBefore } from './checks/alarms.ts';
import { apiAndToken } from './checks/api-and-token.ts';
import { deadLetter } from './checks/dead-letter.ts';
import { deliveryEvents } from './checks/delivery-events.ts';
import { eventPath } from './checks/event-path.ts';
import { exportFile } from './checks/export.ts';
import { gzip } from './checks/gzip.ts';
import { large } from './checks/large.ts';
import { pauseAndResume } from './checks/pause-and-resume.ts';
import { replay } from './checks/replay.ts';
import { sendingActive } from './checks/sending-active.ts';
import { sesAccount } from './checks/ses-account.ts';
import { template } from './checks/template.ts';
import { widget } from './checks/widget.ts';

/** Every check, in the order in which they run: what others need first, what disturbs most last. */
export const CHECKS: readonly Check[] = [
  alarmsBefore,
  sesAccount,
  apiAndToken,
  sendingActive,
  eventPath,
  template,
  acceptOne,
  replay,
  gzip,
  deliveryEvents,
  acceptMany,
  exportFile,
  pauseAndResume,
  large,
  deadLetter,
  widget,
  alarmsAfter,
];
