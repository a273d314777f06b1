import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { SesReadBudget, SlotResult } from '../../../application/ports/control.ts';
import type { Clock, Random, Sleep } from '../../../application/ports/system.ts';
import { bookSlot, freshSeconds, NO_READS, type SesReads } from '../../../domain/sending/ses-reads.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { retry } from '../../../domain/shared/retry.ts';
import { controlKey } from '../client/keys.ts';
import { orUnavailable } from '../client/or-unavailable.ts';
import { type OnUnreadable, readReplaceable } from '../client/replaceable-item.ts';
import { updateOf } from '../client/update.ts';
import { Iso } from '../recipient/items.ts';

export interface SesReadBudgetDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
  readonly onUnreadable: OnUnreadable;
}

const SesReadsItem = z.object({
  nextCallAt: Iso,
  nextUnknownAt: Iso.exactOptional(),
  nextAccountAt: Iso.exactOptional(),
  templates: z.record(z.string(), Iso).default({}),
}) satisfies z.ZodType<SesReads>;

const Key = controlKey('SES_READS');

/** Callers that book at once exclude each other; one of them wins each round, so many need some rounds. */
const RETRIES = { tries: 8, baseMs: 50, capMs: 400 };
/** A caller that lost every round asks again after this. */
const LOST_MS = 1_000;

/** The control item of the budget. Throws `Unavailable` when the table gives no answer. */
export const createSesReadBudget = (deps: SesReadBudgetDeps): SesReadBudget => ({
  async book(kind, template) {
    const booked = await retry<SlotResult, undefined>(deps, RETRIES, async () => {
      const { reads, isStored } = await read(deps);
      const booking = bookSlot(reads, kind, deps.clock(), template);
      if (!booking.isBooked) return { done: true, result: booking };
      if (!(await store(deps, booking.next, isStored ? reads : undefined))) return { done: false, failure: undefined };
      return { done: true, result: { isBooked: true, at: booking.at, freshSeconds: freshSeconds(booking.next) } };
    });
    return booked.done ? booked.result : { isBooked: false, retryAt: deps.clock() + LOST_MS };
  },
});

const read = async (deps: SesReadBudgetDeps): Promise<{ readonly reads: SesReads; readonly isStored: boolean }> => {
  const reads = await orUnavailable(() => readReplaceable(deps, Key, SesReadsItem));
  return { reads: reads ?? NO_READS, isStored: reads !== undefined };
};

/** @param was undefined: there must be none; @returns false: another caller booked meanwhile, or this one did before its answer was lost */
const store = async ({ client, tableName }: SesReadBudgetDeps, next: SesReads, was: SesReads | undefined): Promise<boolean> => {
  const set = {
    nextCallAt: toIso(next.nextCallAt),
    nextUnknownAt: next.nextUnknownAt && toIso(next.nextUnknownAt),
    nextAccountAt: next.nextAccountAt && toIso(next.nextAccountAt),
    templates: Object.fromEntries(Object.entries(next.templates).map(([name, at]) => [name, toIso(at)])),
  };
  try {
    // Every booking moves `nextCallAt`, so the item with that value is the one that was read.
    const update = updateOf(tableName, Key, set, { nextCallAt: was && toIso(was.nextCallAt) });
    await orUnavailable(() => client.send(new UpdateCommand(update)));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};
