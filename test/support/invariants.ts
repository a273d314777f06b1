import { type Allowed, examine, type Requested, type Tally } from '../chaos/invariants.ts';
import type { TestStack } from './stack.ts';

/** The stage's own number, for stacks that are not told another. */
const ATTEMPTS_PER_ROUND = 7;

/**
 * Compares what was asked for, what SES took and what the table says of a dispatch at its end, without the product's own
 * answers; throws one error that names every fault.
 */
export const checkFromOutside = async (
  stack: TestStack,
  dispatchId: string,
  { recipients: requested }: { readonly recipients: readonly Requested[] },
  allowed: Partial<Allowed> = {},
): Promise<Tally> => {
  const rows = await stack.table.rows(dispatchId);
  const recorded = { requested, rows, mails: stack.journal(dispatchId) };
  const { tally, faults } = examine(recorded, {
    duplicates: 0,
    events: true,
    attemptsPerRound: ATTEMPTS_PER_ROUND,
    ...allowed,
  });
  if (faults.length === 0) return tally;
  throw new Error(`${dispatchId} ${JSON.stringify(tally)}:\n${faults.slice(0, 20).join('\n')}`);
};
