import type { TemplateParts } from '../../domain/dispatch/content.ts';
import { isFresh, isServable, MISSING_FRESH_SECONDS, type TemplateCopy } from '../../domain/dispatch/template-copy.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { FoundTemplate, TemplateSource } from '../ports/accept.ts';
import type { SesReadBudget, SlotResult } from '../ports/control.ts';
import { Unavailable } from '../ports/errors.ts';
import type { TemplateFetcher } from '../ports/provider.ts';
import type { Clock, Random, Sleep } from '../ports/system.ts';
import type { StoredCopy, TemplateCopies } from '../ports/templates.ts';

export interface FindTemplateDeps {
  readonly copies: TemplateCopies;
  readonly fetcher: TemplateFetcher;
  readonly budget: SesReadBudget;
  readonly versionOf: (template: TemplateParts) => string;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
}

/** Time for one call to SES and for storing its answer. A caller that dies keeps others waiting this long. */
const LEASE_MS = 3_000;
/** The farthest slot, and the call in it. */
const PATIENCE_MS = 12_000;
/** How often a caller looks whether another one has stored the copy. */
const LOOK_MS = 250;
const RETRY_AFTER_SECONDS = 2;

/**
 * The templates of scenarios, from copies that all functions share. One caller at a time asks SES for a scenario, in a slot of
 * the budget; the others wait for what it stores. The copy is always read from the table, so no request gets an older template
 * than a preview before it.
 */
export const createTemplateSource = (deps: FindTemplateDeps): TemplateSource => ({
  async find(scenarioId) {
    const { copies, clock, random, sleep } = deps;
    const giveUpAt = clock() + PATIENCE_MS;
    for (;;) {
      const read = await copies.find(scenarioId);
      const now = clock();
      if (read.copy !== undefined && isFresh(read.copy, now)) return toResult(read.copy);
      const until = now + LEASE_MS;
      if ((read.leaseUntil ?? 0) <= now && (await copies.lease(scenarioId, read, until, now)))
        return renew(deps, { scenarioId, read, giveUpAt, leaseUntil: until });
      const waitMs = LOOK_MS * (0.5 + random());
      if (clock() + waitMs > giveUpAt) return lastResort(read, clock());
      await sleep(waitMs);
    }
  },
});

/** What the one caller knows that may ask SES. */
interface Renewal {
  readonly scenarioId: string;
  readonly read: StoredCopy;
  readonly giveUpAt: Instant;
  /** Moves with the slot that is waited for. */
  leaseUntil: Instant;
}

/** Asks SES. Whatever happens, the lease ends with it. */
const renew = async (deps: FindTemplateDeps, renewal: Renewal): Promise<FoundTemplate | undefined> => {
  const { copies, clock } = deps;
  const { scenarioId, read } = renewal;
  const release = () => copies.release(scenarioId, renewal.leaseUntil).catch(() => undefined);
  try {
    const slot = await waitForSlot(deps, renewal);
    if (slot.isBooked) return toResult(await copies.store(scenarioId, await fetchCopy(deps, scenarioId, slot.freshSeconds)));
    await release();
    return lastResort(read, clock(), slot.retryAt);
  } catch (error) {
    await release();
    if (error instanceof Unavailable && isServed(read, clock())) return lastResort(read, clock());
    throw error;
  }
};

/** Books a slot and waits for it, with the lease prolonged. A copy that may still be served is better than a long wait. */
const waitForSlot = async (deps: FindTemplateDeps, renewal: Renewal): Promise<SlotResult> => {
  const { budget, clock } = deps;
  const { scenarioId, read, giveUpAt } = renewal;
  for (;;) {
    const slot = await budget.book(read.isKnown ? 'known-template' : 'unknown-template', scenarioId);
    if (slot.isBooked) await waitUntil(deps, renewal, slot.at);
    else if (!isServed(read, clock()) && slot.retryAt <= giveUpAt) await waitUntil(deps, renewal, slot.retryAt);
    if (slot.isBooked || isServed(read, clock()) || slot.retryAt > giveUpAt) return slot;
  }
};

const waitUntil = async ({ copies, clock, sleep }: FindTemplateDeps, renewal: Renewal, at: Instant): Promise<void> => {
  const waitMs = at - clock();
  if (waitMs <= 0) return;
  const lease = { from: renewal.leaseUntil, until: at + LEASE_MS };
  await copies.prolong(renewal.scenarioId, lease);
  renewal.leaseUntil = lease.until;
  await sleep(waitMs);
};

const fetchCopy = async (
  { fetcher, versionOf, clock }: FindTemplateDeps,
  scenarioId: string,
  freshSeconds: number,
): Promise<TemplateCopy> => {
  const fetchedAt = clock();
  const template = await fetcher.fetch(scenarioId);
  if (template === undefined) return { found: { kind: 'missing' }, fetchedAt, freshSeconds: MISSING_FRESH_SECONDS };
  return { found: { kind: 'template', template, version: versionOf(template) }, fetchedAt, freshSeconds };
};

const isServed = ({ copy }: StoredCopy, now: Instant): boolean => copy !== undefined && isServable(copy, now);

/** An old copy, or none at all. @param retryAt when a slot may be free */
const lastResort = ({ copy }: StoredCopy, now: Instant, retryAt = 0): FoundTemplate | undefined => {
  if (copy !== undefined && isServable(copy, now)) return toResult(copy);
  throw new Unavailable('SES', Math.max(RETRY_AFTER_SECONDS, Math.ceil((retryAt - now) / 1000)));
};

const toResult = ({ found }: TemplateCopy): FoundTemplate | undefined => (found.kind === 'missing' ? undefined : found);
