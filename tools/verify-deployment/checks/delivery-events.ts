import { type Check, failed, passed } from '../check.ts';
import type { Mailbox } from '../dispatches.ts';
import { readDepth, totalOf } from '../queue-depth.ts';
import { findUnsentReason, UNSENT_ADVICE, type UnsentProblem } from '../unsent.ts';
import type { Recipient } from '../views.ts';

type Problem = UnsentProblem | 'no-events' | 'events-wait' | 'some-missing';

const MAILBOXES: readonly Mailbox[] = ['success', 'bounce', 'complaint'];
const EXPECTED = ['delivered', 'bounced', 'complained'];

const deliveriesOf = (recipients: readonly Recipient[]): readonly string[] =>
  MAILBOXES.map((_, i) => recipients.find(({ applyId }) => applyId === `events-${i}`)?.delivery ?? 'none');

const isAllThere = (recipients: readonly Recipient[]): boolean =>
  deliveriesOf(recipients).every((state, i) => state === EXPECTED[i]);

/** What the missing events point to. @param waiting messages in the feedback queue */
export const explainSilence = (recipients: readonly Recipient[], waiting: number) => {
  const saw = MAILBOXES.map((mailbox, i) => `${mailbox}@ is ${deliveriesOf(recipients)[i] ?? 'none'}`).join(', ');
  if (waiting > 0) return failed('events-wait', `${saw}; ${waiting} events wait in the feedback queue`);
  const heard = recipients.some(({ events }) => events.some(({ kind }) => kind !== 'Send'));
  return heard ? failed('some-missing', saw) : failed('no-events', `${saw}; all are SENT and no event has arrived`);
};

/** Delivered, bounced and complained mails are recorded as that. */
export const deliveryEvents: Check<Problem> = {
  id: 'events',
  name: 'Delivery, bounce, complaint',
  needs: ['one'],
  advice: {
    ...UNSENT_ADVICE,
    'no-events':
      'SES publishes no events of these mails. Look at the check "Path of SES events", at the key policy of the topic (SES must be allowed kms:GenerateDataKey and kms:Decrypt), and at docs/runbook.md, "Feedback silent". Bounces and complaints are not recorded until this works.',
    'events-wait':
      'Events reach the feedback queue and nothing takes them. Look at the function ApplyFeedback: its event source mapping must be enabled, and its role needs sqs:ReceiveMessage and sqs:DeleteMessage.',
    'some-missing':
      'Events of one kind do not arrive. Compare the event types of the destination (SES console, configuration set), and look at the log of ApplyFeedback. Complaints of the simulator can take some minutes: run --only events with a longer --wait.',
  },
  run: async (world) => {
    const { dispatches, waiting, target, numbers, options } = world;
    const id = await dispatches.accepted(dispatches.request('events', MAILBOXES));
    const seconds = (await numbers()).secondsToSend(MAILBOXES.length);
    const sent = await waiting.until(
      () => dispatches.now(id),
      ({ counts }) => counts['SENT'] === MAILBOXES.length,
      seconds,
    );
    if (!sent.came) {
      const { problem, saw } = await findUnsentReason(world, id);
      return failed(problem, saw);
    }
    const heard = await waiting.until(() => dispatches.recipients(id), isAllThere, options.waitSeconds);
    if (heard.came) return passed(`${EXPECTED.join(', ')} after ${heard.seconds} s`);
    return explainSilence(heard.last, totalOf(await readDepth(target.sqs, target.queues.feedback)));
  },
};
