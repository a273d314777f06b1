import type { Account } from '../../domain/account.ts';
import { describeError } from '../../observability/describe-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

/** Logs when SES did not describe the account; what it answered is in the metrics of the pass. */
export const createAccountObserver =
  ({ logger }: Telemetry) =>
  (result: Account | { readonly error: unknown }): void => {
    if ('error' in result) logger.warn('account not read', describeError(result.error));
  };
