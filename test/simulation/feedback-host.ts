import { createApplyFeedback } from '../../lambda/application/feedback/apply-feedback.ts';
import type { Feedback } from '../../lambda/domain/recipient/feedback.ts';
import type { RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import type { Environment } from './event-source.ts';
import { createFeedbackPort } from './feedback-port.ts';
import type { Ledger } from './ledger.ts';
import type { PortDeps } from './ports.ts';
import { createRecipientPort } from './recipient-port.ts';
import type { Host, Process } from './scheduler.ts';
import { nameOf } from './table.ts';

/** A duplicate was counted. */
export const countDuplicate = ({ duplicates }: Ledger, key: RecipientKey): void => {
  duplicates.set(nameOf(key), (duplicates.get(nameOf(key)) ?? 0) + 1);
};

/** As in a stage. */
export const BEHIND_AFTER_SECONDS = 45;

/** A loaded function that applies SES's events. */
export const loadFeedback = (deps: PortDeps, host: Host): Environment<Feedback> => {
  const { scheduler, ledger } = deps;
  return {
    host,
    handle: (messages, process) => {
      const batch = messages.map(({ body, sentAt, firstReceivedAt, receives }) => ({
        ...body,
        arrival: { queuedAt: sentAt, firstReceivedAt, receiveCount: receives },
      }));
      ledger.inHand.set(process, batch);
      for (const feedback of batch) if (feedback.kind === 'canary') ledger.heardOf.push(feedback.sentAt - deps.sesSkewMs);
      const own = (): Process => process;
      const applyFeedback = createApplyFeedback({
        recipients: createRecipientPort(deps, own),
        feedback: createFeedbackPort(deps, own),
        behind: { behindAfterSeconds: BEHIND_AFTER_SECONDS, redeliverySeconds: deps.plan.policy.redeliverySeconds },
        clock: () => scheduler.now() + host.skewMs,
        sleep: (ms) => scheduler.sleep(process, ms),
        observe: ({ type, key }) => {
          if (type === 'duplicate' && key !== undefined) countDuplicate(ledger, key);
        },
      });
      return applyFeedback(batch, () => process.deadline - scheduler.now());
    },
  };
};
