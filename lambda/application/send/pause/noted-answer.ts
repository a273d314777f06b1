import type { RecipientKey } from '../../../domain/recipient/recipient.ts';
import type { SendAnswer } from '../../../domain/sending/send-answer.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import { type AttemptAnswer, type FinishedAttempt, groupId } from '../finished-attempt.ts';

/** What the rules about pauses look at in a finished attempt. */
export interface NotedAnswer {
  readonly key: RecipientKey;
  readonly from: string;
  /** When the recipient was claimed: no call of it began earlier. */
  readonly startedAt: Instant;
  readonly answer: AttemptAnswer;
}

export const toNotedAnswer = ({ group, claimed, answer }: FinishedAttempt): NotedAnswer => ({
  key: group.key,
  from: group.content.from,
  startedAt: claimed.attempts.at(-1)?.startedAt ?? 0,
  answer,
});

export const recipientOf = ({ key }: Pick<NotedAnswer, 'key'>): string => groupId(key);

/** Whether SES was called: a mail that cannot be rendered, or may not be sent, or was left for want of time, says nothing about it. */
const NOT_ASKED: ReadonlySet<AttemptAnswer['kind']> = new Set(['no-time', 'not-allowed', 'unrenderable', 'used-up']);

export const wasAsked = (answer: AttemptAnswer): answer is SendAnswer | Extract<AttemptAnswer, { kind: 'refused-alone' }> =>
  !NOT_ASKED.has(answer.kind);
