import type { Instant } from '../../domain/shared/instant.ts';
import type { StoredRecipient } from '../ports/recipients.ts';
import type { SendableGroup } from './finished-attempt.ts';
import type { Actions } from './group-messages.ts';
import { handleRefused } from './handle-refused-claim.ts';
import type { SendDeps } from './send-deps.ts';

/** What is known of one invocation while its chunks are chosen. */
export interface Choice {
  readonly actions: Actions;
  /** Groups whose rows were looked at: once is enough. */
  readonly lookedAt: Set<SendableGroup>;
}

/**
 * Looks at rows before a chunk waits for the pace, and decides the messages of those that cannot be claimed now: only
 * claims take pace, and a row that waits holds up no other.
 * @returns the groups that may be claimed, in their order
 */
export const setAsideWaiting = async (
  deps: SendDeps,
  chunk: readonly SendableGroup[],
  { actions, lookedAt }: Choice,
): Promise<SendableGroup[]> => {
  const rows = await Promise.all(
    chunk.map(async (group) => (lookedAt.has(group) ? 'unavailable' : deps.recipients.find(group.key))),
  );
  const claimable: SendableGroup[] = [];
  for (const [i, group] of chunk.entries()) {
    lookedAt.add(group);
    const row = rows[i];
    if (row === 'unavailable' || mayBeClaimed(row, deps.clock())) claimable.push(group);
    else await handleRefused(deps, group, row, actions);
  }
  return claimable;
};

const mayBeClaimed = (row: StoredRecipient | undefined, now: Instant): boolean =>
  row?.recipient.status === 'PENDING' && row.recipient.nextAttemptAt <= now;
