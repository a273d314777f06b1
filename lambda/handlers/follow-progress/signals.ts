import type { ProgressSignal } from '../../application/progress/follow-progress.ts';
import { redactError } from '../../observability/redact-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

/** The metric of each signal: a fixed list, since every name is billed. */
const METRIC: Readonly<Record<ProgressSignal['type'], string>> = {
  completed: 'DispatchCompleted',
  closed: 'CancellationFinished',
  stopped: 'DispatchStopped',
  recounted: 'ProgressRecounted',
  'evaluation-failed': 'ProgressFailed',
  'not-counted': 'ProgressFailed',
  // Nobody tries it again, so it rings as records do that nobody can read.
  uncountable: 'ProgressRecordMalformed',
  'not-begun': 'ProgressFailed',
  published: 'EventsPublished',
  'not-published': 'EventPublishFailed',
};

/** Signals that are the normal course of things; the others are worth a warning. */
const NORMAL: ReadonlySet<ProgressSignal['type']> = new Set(['completed', 'closed', 'published']);

/** Counts and logs what progress did, by ids and codes alone. */
export const createProgressObserver =
  ({ logger, count }: Telemetry) =>
  (signal: ProgressSignal): void => {
    const { type } = signal;
    count(METRIC[type], 'count' in signal ? signal.count : 1);
    const fields = {
      signal: type,
      ...('dispatchId' in signal && { dispatchId: signal.dispatchId }),
      ...('count' in signal && { events: signal.count }),
      ...('codes' in signal && { code: signal.codes.join(', ') }),
      ...('error' in signal && signal.error !== undefined && redactError(signal.error)),
    };
    if (NORMAL.has(type)) logger.info('progress', fields);
    else logger.warn('progress', fields);
  };
