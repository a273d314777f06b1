import type { SendAnswer } from '../../../domain/sending/send-answer.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import type { CanaryRepository, CanaryResult } from '../../ports/control.ts';
import type { MailProvider } from '../../ports/provider.ts';
import type { Clock } from '../../ports/system.ts';

/** The canaries that answer questions about the account, for all senders together. */
export interface SharedCanary {
  /** The newest result of any sender; undefined: none, or the table does not say. */
  newest(): Promise<CanaryResult | undefined>;
  /**
   * A result that began after an instant: another sender's, or that of a canary sent now. Undefined: none, and it is too
   * soon for another canary.
   */
  askedAfter(after: Instant): Promise<CanaryResult | undefined>;
  /** Sends one, unless it is too soon for another: then undefined. */
  ask(): Promise<CanaryResult | undefined>;
  /** Sends one, however soon: for the holder of a probe, or of credentials that were refused. */
  send(): Promise<CanaryResult>;
}

/** All senders together send no more than one in this time, beside the probes of a pause and the trials of credentials. */
const APART_SECONDS = 10;
/** A result is shared by reading one item; no more often than this. */
const READ_APART_MS = 2_000;

export const createSharedCanary = (
  canaries: CanaryRepository,
  provider: Pick<MailProvider, 'sendCanary'>,
  from: string,
  clock: Clock,
): SharedCanary => {
  let newest: CanaryResult | undefined;
  let readAt: Instant | undefined;

  const keep = (result: CanaryResult | undefined): void => {
    if (result !== undefined && (newest === undefined || result.beganAt > newest.beganAt)) newest = result;
  };

  const read = async (): Promise<CanaryResult | undefined> => {
    if (readAt === undefined || clock() - readAt >= READ_APART_MS) {
      readAt = clock();
      keep(await canaries.newest());
    }
    return newest;
  };

  const send = async (): Promise<CanaryResult> => {
    const beganAt = clock();
    const answer: SendAnswer = await provider.sendCanary(from);
    const result = { beganAt, answer };
    // Refused credentials are this environment's own, and say nothing to the others.
    if (answer.kind !== 'credentials') {
      keep(result);
      await canaries.record(result);
    }
    return result;
  };

  const ask = async (): Promise<CanaryResult | undefined> => ((await canaries.book(clock(), APART_SECONDS)) ? send() : undefined);

  return {
    newest: read,
    ask,
    send,
    async askedAfter(after) {
      const shared = await read();
      return shared !== undefined && shared.beganAt > after ? shared : ask();
    },
  };
};
