import { maskAddress, maskAddresses } from '../../domain/recipient/masking.ts';
import { shardOf } from '../../domain/dispatch/shards.ts';
import { countBad } from '../../domain/sending/trouble.ts';
import type { UnclearPolicy } from '../../domain/recipient/unclear.ts';
import type { Clock } from '../ports/ports.ts';
import type { ReadDispatch } from './read-dispatch.ts';
import type { RecipientSeen, Story, StoryRepository } from '../ports/show-ports.ts';

/** What is asked for: a dispatch, and the first of these recipients that it has. */
export interface StoryWish {
  readonly dispatchId: string;
  readonly applyIds: readonly string[];
}

export interface TellStoryDeps {
  readonly dispatches: Pick<ReadDispatch, 'dispatch'>;
  readonly stories: StoryRepository;
  readonly unclearPolicy: UnclearPolicy;
  readonly clock: Clock;
}

export type TellStory = (wish: StoryWish) => Promise<Story | 'not-found'>;

/** A widget has room for so many. */
const BAD_SHOWN = 10;

/** Whoever may see the dashboard may look at any admin's dispatches. */
const ANYBODY = { adminId: '', isOperator: true };

/** Tells what became of a dispatch, and of one of its recipients. */
export const createTellStory =
  ({ dispatches, stories, unclearPolicy, clock }: TellStoryDeps): TellStory =>
  async ({ dispatchId, applyIds }) => {
    const found = await dispatches.dispatch(ANYBODY, dispatchId);
    if (found === undefined) return 'not-found';
    const { dispatch, counts, deliveries } = found;
    const isAlone = applyIds.length === 0;
    const [tasksLeft, batchesLeft, badRecipients, recipient] = await Promise.all([
      stories.tasksLeft(dispatchId),
      stories.batchesLeft(dispatchId),
      isAlone && countBad(found) > 0 ? stories.badRecipients(dispatch, BAD_SHOWN) : [],
      findFirst(stories, dispatchId, dispatch.shards, applyIds),
    ]);
    return {
      now: clock(),
      dispatch: { ...dispatch, adminId: maskAddresses(dispatch.adminId) },
      counts,
      deliveries,
      unclearPolicy,
      tasksLeft,
      batchesLeft,
      badRecipients,
      ...(!isAlone && { recipient: recipient === undefined ? 'no-recipient' : masked(recipient) }),
    };
  };

const findFirst = async (
  stories: StoryRepository,
  dispatchId: string,
  shards: number,
  applyIds: readonly string[],
): Promise<RecipientSeen | undefined> => {
  for (const applyId of applyIds) {
    const found = await stories.recipient({ dispatchId, shard: shardOf(applyId, shards), applyId });
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
