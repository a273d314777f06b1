import { isFinal, type RecipientStatus } from '../recipient/recipient.ts';
import type { Counts, Dispatch } from './dispatch.ts';

/** What a final recipient that changes its status changes about the counts of the last end of its dispatch. */
export interface FrozenChange {
  /** It is not counted there as this any more. */
  readonly from: RecipientStatus;
  /** It is counted there as this instead; absent: no more, since it is open until the next end. */
  readonly to?: RecipientStatus;
}

/** The last end of a dispatch, as far as a row needs it. */
export type LastEnd = Pick<Dispatch, 'frozenGeneration'>;

/** Whether a row was reopened after the last end of its dispatch: the counts of that end are without it. */
export const isReopened = (reopenedAfter: number | undefined, { frozenGeneration }: LastEnd): boolean =>
  reopenedAfter !== undefined && reopenedAfter === frozenGeneration;

/**
 * What the change of a final row does to the counts of the last end.
 * @param reopenedAfter the generation of the end after which the row was reopened last
 * @returns undefined: they are without the row, or there was no end yet
 */
export const frozenChange = (
  before: { readonly status: RecipientStatus; readonly reopenedAfter?: number | undefined },
  next: RecipientStatus,
  end: LastEnd,
): FrozenChange | undefined => {
  if (end.frozenGeneration === undefined || isReopened(before.reopenedAfter, end)) return undefined;
  return { from: before.status, ...(isFinal(next) && { to: next }) };
};

/** The counts of the last end after a change. */
export const applyFrozenChange = (counts: Counts, { from, to }: FrozenChange): Counts => {
  const without = { ...counts, [from]: counts[from] - 1 };
  return to === undefined ? without : { ...without, [to]: without[to] + 1 };
};
