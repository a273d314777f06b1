import { shardOf } from '../../domain/dispatch/shards.ts';
import { maskAddress, maskAddresses } from '../../domain/recipient/masking.ts';
import type { UnclearPolicy } from '../../domain/recipient/unclear.ts';
import { countBad } from '../../domain/sending/trouble.ts';
import type { Details, DetailsRepository, RecipientSeen } from '../ports/queries.ts';
import type { Clock } from '../ports/system.ts';
import type { ReadDispatch } from './read-dispatch.ts';

/** What is asked for: a dispatch, and the first of these recipients that it has. */
export interface DetailsQuery {
  readonly dispatchId: string;
  readonly applyIds: readonly string[];
}

export interface ReadDetailsDeps {
  readonly dispatches: Pick<ReadDispatch, 'dispatch'>;
  readonly detailsRepository: DetailsRepository;
  readonly unclearPolicy: UnclearPolicy;
  readonly clock: Clock;
}

export type ReadDetails = (query: DetailsQuery) => Promise<Details | 'not-found'>;

/** A widget has room for so many. */
const BAD_SHOWN = 10;

/** Whoever may see the dashboard may look at any admin's dispatches. */
const ANYBODY = { adminId: '', isOperator: true };

/** Tells what became of a dispatch, and of one of its recipients. */
export const createReadDetails =
  ({ dispatches, detailsRepository, unclearPolicy, clock }: ReadDetailsDeps): ReadDetails =>
  async ({ dispatchId, applyIds }) => {
    const found = await dispatches.dispatch(ANYBODY, dispatchId);
    if (found === undefined) return 'not-found';
    const { dispatch, counts, deliveries } = found;
    const isAlone = applyIds.length === 0;
    const [pendingTasks, pendingBatches, badRecipients, recipient] = await Promise.all([
      detailsRepository.pendingTasks(dispatchId),
      detailsRepository.pendingBatches(dispatchId),
      isAlone && countBad(found) > 0 ? detailsRepository.badRecipients(dispatch, BAD_SHOWN) : [],
      findFirst(detailsRepository, dispatchId, dispatch.shards, applyIds),
    ]);
    return {
      now: clock(),
      dispatch: { ...dispatch, adminId: maskAddresses(dispatch.adminId) },
      counts,
      deliveries,
      unclearPolicy,
      pendingTasks,
      pendingBatches,
      badRecipients,
      ...(!isAlone && { recipient: recipient === undefined ? 'no-recipient' : masked(recipient) }),
    };
  };

const findFirst = async (
  detailsRepository: DetailsRepository,
  dispatchId: string,
  shards: number,
  applyIds: readonly string[],
): Promise<RecipientSeen | undefined> => {
  for (const applyId of applyIds) {
    const found = await detailsRepository.recipient({ dispatchId, shard: shardOf(applyId, shards), applyId });
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Who settled it may be an address, and the note may say anything. */
const masked = (seen: RecipientSeen): RecipientSeen => ({
  ...seen,
  email: maskAddress(seen.email),
  ...(seen.settled && { settled: { ...seen.settled, who: maskAddresses(seen.settled.who), note: '' } }),
});
