import type { AccountChange } from '../../local/fake-ses/account.ts';
import { postJson } from '../chaos/post-json.ts';
import { poll, type TestStack } from './stack.ts';

/** What a stack's SES account may do unless tests say otherwise. */
const USUAL_ACCOUNT: AccountChange = { perDay: 1_000_000, sendingEnabled: true, enforcement: 'HEALTHY' };

/** Ends what tests have ordered so far: faults, event rules, limits of the account, crashes, outages, a pause and dead letters. */
export const resetStack = async (stack: TestStack): Promise<void> => {
  const { ses, crash } = stack.description;
  await Promise.all([
    stack.clearFaults(),
    postJson(`${ses}/_gate/events`, 'DELETE'),
    stack.account(USUAL_ACCOUNT),
    ...(crash === undefined ? [] : [postJson(crash, 'DELETE'), stack.endOutages()]),
  ]);
  await poll(
    () => stack.sending({ paused: false }),
    ({ paused }) => !paused,
  );
  await stack.queues.purge();
};
