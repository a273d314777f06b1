import type { IsAllowedRecipient } from '../../domain/recipient/allowed-recipients.ts';
import type { UnclearLedger } from '../ports/control.ts';
import type { ContentRepository, DispatchRepository } from '../ports/dispatches.ts';
import type { MailProvider, MailRenderer } from '../ports/provider.ts';
import type { RecipientRepository } from '../ports/recipients.ts';
import type { Clock, NewId, Random, Sleep } from '../ports/system.ts';
import type { SendPolicy, SendSignal } from './finished-attempt.ts';
import type { PauseGuard } from './pause/pause-guard.ts';
import type { Pacer } from './rate/pacer.ts';
import type { StopRule } from './stop-dispatch.ts';

/** What a sender works with. */
export interface SendDeps {
  readonly recipients: RecipientRepository;
  readonly dispatches: DispatchRepository;
  readonly contents: ContentRepository;
  readonly ledger: Pick<UnclearLedger, 'add'>;
  readonly renderer: MailRenderer;
  /** Asked before each call: the stage may have been restricted since accept. */
  readonly isAllowedRecipient: IsAllowedRecipient;
  readonly provider: MailProvider;
  readonly pacer: Pacer;
  readonly guard: PauseGuard;
  readonly stopRule: StopRule;
  readonly policy: SendPolicy;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly sleep: Sleep;
  /** Must not throw. */
  readonly observe: (signal: SendSignal) => void;
}

/** Time kept back, beside the SES timeout, to record what SES answered. */
const RECORD_RESERVE_MS = 2_000;

/** Time for one call to SES and for recording its answer. */
export const neededMs = ({ sesTimeoutSeconds }: Pick<SendPolicy, 'sesTimeoutSeconds'>): number =>
  sesTimeoutSeconds * 1000 + RECORD_RESERVE_MS;
