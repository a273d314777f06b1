import type { Api } from './api.ts';
import type { Cleanup } from './cleanup.ts';
import type { Dispatches } from './dispatches.ts';
import type { Numbers } from './numbers.ts';
import type { Options } from './options.ts';
import type { Target } from './target.ts';
import type { Waiting } from './waiting.ts';

/** What a check works with. */
export interface World {
  /** Names this run in keys, reasons and addresses. */
  readonly runId: string;
  readonly target: Target;
  readonly options: Options;
  readonly api: Api;
  readonly dispatches: Dispatches;
  readonly waiting: Waiting;
  readonly cleanup: Cleanup;
  /** How many mails the account allows; asked of SES once. */
  readonly numbers: () => Promise<Numbers>;
}
