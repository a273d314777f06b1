import { shortHash } from '../../adapters/hashing/short-hash.ts';
import type { ResolveSignal } from '../../application/unclear/resolve-unclear.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

/** The metric of each signal: a fixed list, since every name is billed. */
const METRIC: Readonly<Record<ResolveSignal['type'], string>> = {
  unsent: 'UnclearUnsent',
  resent: 'UnclearResent',
  unknown: 'OutcomeUnknown',
  canary: 'CanarySent',
  'canary-refused': 'CanaryRefused',
};

/** Signals that are the normal course of things; the others are worth a warning. */
const NORMAL: ReadonlySet<ResolveSignal['type']> = new Set(['unsent', 'canary']);

/** Counts and logs what became of an unclear attempt, by ids and codes alone. */
export const createResolveObserver =
  ({ logger, count }: Telemetry) =>
  ({ type, key, round, attempt, code }: ResolveSignal): void => {
    count(METRIC[type]);
    const whose = key && { dispatchId: key.dispatchId, recipient: shortHash(key.applyId) };
    const fields = { signal: type, ...whose, round, attempt, code };
    if (NORMAL.has(type)) logger.info('recipient', fields);
    else logger.warn('recipient', fields);
  };
