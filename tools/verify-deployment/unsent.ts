import { type Depth, readDepth } from './queue-depth.ts';
import type { Recipient, Sending } from './views.ts';
import type { World } from './world.ts';

/** Why a recipient has no mail. */
export type UnsentProblem = 'paused' | 'quota' | 'refused' | 'not-queued' | 'not-received' | 'no-outcome';

/** What to do about each of them. */
export const UNSENT_ADVICE: Readonly<Record<UnsentProblem, string>> = {
  paused:
    'SES refuses the account, so the service has paused sending. Look the code up in docs/runbook.md, "Sending paused": usually the identity of fromAddress is not verified in this region, or the sender may not call ses:SendEmail.',
  quota:
    'The 24-hour quota of SES is used up: sending pauses and resumes by itself as the window moves. Run the checks again then, or ask for a higher quota (Service Quotas, Amazon SES). Other applications of the account and region use the same quota.',
  refused:
    'SES refused the mail or the mail could not be made. Look the code up in docs/runbook.md, "Mails refused" and "Mails refused for the account".',
  'not-queued':
    'No message reached the send queue. The relay (function RelayOutbox) reads the stream of the table and puts messages into it: look at its log for AccessDenied on sqs:SendMessage, at its event source mapping (enabled?), and at the alarm on records not relayed.',
  'not-received':
    'Messages wait in the send queue and nothing takes them. Look at the sender (function SendRecipients): its event source mapping must be enabled, its role needs sqs:ReceiveMessage and sqs:DeleteMessage, and its reserved concurrency must fit the account (docs/deploy.md, section 3).',
  'no-outcome':
    'The sender took the message and stored no outcome. Look at the log of SendRecipients for the id of the dispatch; timeouts point to the network or to the rights on the table.',
};

/** What is known of a recipient that should have been sent to. */
export interface UnsentFacts {
  readonly sending: Pick<Sending, 'paused' | 'by' | 'code'>;
  readonly recipient: Pick<Recipient, 'status' | 'lastErrorCode' | 'attempts'> | undefined;
  readonly depth: Depth;
}

const isQuota = (code: string | undefined): boolean => code?.includes('QUOTA') === true;

/** The most likely reason, from the account outwards to the queue. */
export const explainUnsent = ({ sending, recipient, depth }: UnsentFacts): { problem: UnsentProblem; saw: string } => {
  const { status = 'no recipient', lastErrorCode, attempts = [] } = recipient ?? {};
  if (sending.paused) {
    const saw = `sending is paused by ${sending.by ?? 'somebody'}, code ${sending.code ?? 'none'}`;
    return { problem: isQuota(sending.code) ? 'quota' : 'paused', saw };
  }
  const code = lastErrorCode ?? attempts.findLast((attempt) => attempt.code !== undefined)?.code;
  if (code !== undefined) return { problem: isQuota(code) ? 'quota' : 'refused', saw: `the recipient is ${status} with ${code}` };
  if (depth.visible > 0)
    return { problem: 'not-received', saw: `the recipient is ${status}; ${depth.visible} messages wait in the send queue` };
  if (status === 'PROCESSING' || attempts.length > 0 || depth.inFlight > 0) {
    return { problem: 'no-outcome', saw: `the recipient is ${status}; ${depth.inFlight} messages are being handled` };
  }
  return { problem: 'not-queued', saw: `the recipient is ${status}, without an attempt; the send queue is empty` };
};

/** Finds out why recipients of a dispatch were not sent to. */
export const findUnsentReason = async (
  { dispatches, target }: World,
  dispatchId: string,
): Promise<{ problem: UnsentProblem; saw: string }> => {
  const [sending, recipients, depth] = await Promise.all([
    dispatches.sending(),
    dispatches.recipients(dispatchId),
    readDepth(target.sqs, target.queues.send),
  ]);
  return explainUnsent({ sending, recipient: recipients.find(({ status }) => status !== 'SENT'), depth });
};
