import type { RenderedMail } from '../../domain/dispatch/content.ts';
import { RECIPIENT_NOT_ALLOWED } from '../../domain/recipient/allowed-recipients.ts';
import { ATTEMPTS_EXHAUSTED } from '../../domain/recipient/recipient.ts';
import { longestPreparationSeconds } from '../../domain/sending/watermark.ts';
import type { MailRenderer } from '../ports/provider.ts';
import type { ClaimedRecipient } from '../ports/recipients.ts';
import type { AttemptAnswer, SendableGroup } from './finished-attempt.ts';
import type { SendDeps } from './send-deps.ts';

/** A claim that was granted. */
export interface GrantedClaim {
  readonly group: SendableGroup;
  readonly claimed: ClaimedRecipient;
}

/** A claimed recipient with its mail, or with the reason why SES is not called. */
export interface PreparedMail extends GrantedClaim {
  readonly prepared:
    | { readonly ok: true; readonly mail: RenderedMail }
    | {
        readonly ok: false;
        readonly answer: Extract<AttemptAnswer, { kind: 'no-time' | 'not-allowed' | 'unrenderable' | 'used-up' }>;
      };
}

/**
 * Renders all mails of a chunk. Nothing else runs meanwhile, so no call to SES may be under way: its answer would be read
 * late and taken for a timeout. A chunk that takes too long is cut: the rest is given back and may be prepared without the
 * mail that is slow.
 */
export const prepareMails = (
  { renderer, isAllowedRecipient, clock, policy }: Pick<SendDeps, 'renderer' | 'isAllowedRecipient' | 'clock' | 'policy'>,
  granted: readonly GrantedClaim[],
): PreparedMail[] => {
  const until = clock() + (longestPreparationSeconds(policy) * 1000) / 2;
  return granted.map(({ group, claimed }, i) => {
    if (!isAllowedRecipient(claimed.email))
      return { group, claimed, prepared: { ok: false, answer: { kind: 'not-allowed', code: RECIPIENT_NOT_ALLOWED } } };
    if (claimed.recipient.attemptCount > policy.attemptsPerRound)
      return { group, claimed, prepared: { ok: false, answer: { kind: 'used-up', code: ATTEMPTS_EXHAUSTED } } };
    if (i > 0 && clock() > until) return { group, claimed, prepared: { ok: false, answer: NO_TIME_LEFT } };
    const rendered = render(renderer, group.key.dispatchId, group.content, claimed);
    const prepared = rendered.ok ? rendered : ({ ok: false, answer: { kind: 'unrenderable', code: rendered.code } } as const);
    return { group, claimed, prepared };
  });
};

export const NO_TIME_LEFT = { kind: 'no-time', code: 'NO_TIME_LEFT' } as const;

/** A crash of the renderer is a fault of this mail, and nothing was sent: the others of the chunk go on. */
const render = (renderer: MailRenderer, ...args: Parameters<MailRenderer['render']>): ReturnType<MailRenderer['render']> => {
  try {
    return renderer.render(...args);
  } catch {
    return { ok: false, code: 'RENDERING_CRASHED' };
  }
};
