import { type EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';

import type { EventPublisher, Published } from '../../application/ports/progress.ts';
import { NEWS_SOURCE, NEWS_TYPES, toPublishedEvent } from '../../contracts/events/published-event.ts';
import type { DispatchEvent } from '../../domain/dispatch/dispatch-event.ts';
import { isAllDone, retry } from '../../domain/shared/retry.ts';

export interface EventPublisherDeps {
  readonly client: EventBridgeClient;
  readonly busName: string;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** PutEvents takes no more. */
const ENTRIES_PER_CALL = 10;
const RETRIES = { tries: 2, baseMs: 250 };

/** Tells news on an event bus. A call that answers 200 may still have failed entries, and those are sent again once. */
export const createEventPublisher = (deps: EventPublisherDeps): EventPublisher => ({
  async publish(news) {
    const told: Published[] = news.map(() => NOT_ASKED);
    for (let from = 0; from < news.length; from += ENTRIES_PER_CALL) {
      let open = [...news.entries()].slice(from, from + ENTRIES_PER_CALL);
      await retry(deps, RETRIES, async () => {
        const results = await putOnce(
          deps,
          open.map(([, item]) => item),
        );
        for (const [n, [i]] of open.entries()) told[i] = results[n] ?? NOT_ASKED;
        open = open.filter((_, n) => results[n] !== 'taken');
        return isAllDone(open);
      });
    }
    return told;
  },
});

const NOT_ASKED: Published = { code: 'NOT_ASKED' };

/** Without an answer the bus may have it all the same. */
const putOnce = async ({ client, busName }: EventPublisherDeps, news: readonly DispatchEvent[]): Promise<Published[]> => {
  try {
    const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: news.map((item) => toEntry(busName, item)) }));
    return news.map((_, i) => (Entries[i]?.EventId === undefined ? { code: Entries[i]?.ErrorCode ?? 'NO_EVENT_ID' } : 'taken'));
  } catch (error) {
    const code = error instanceof Error ? error.name : 'UNKNOWN_ERROR';
    return news.map(() => ({ code }));
  }
};

const toEntry = (EventBusName: string, news: DispatchEvent): PutEventsRequestEntry => ({
  EventBusName,
  Source: NEWS_SOURCE,
  DetailType: NEWS_TYPES[news.kind],
  Detail: JSON.stringify(toPublishedEvent(news)),
});
