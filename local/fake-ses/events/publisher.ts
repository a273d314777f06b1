import { PublishBatchCommand, type SNSClient } from '@aws-sdk/client-sns';

import { bareAddress } from '../mail.ts';
import { eventPlanOf, type Happening } from './event-plan.ts';
import { isOfType } from './kinds.ts';
import type { EventLedger } from './ledger.ts';
import { createEventRules } from './rules.ts';
import { type EventMail, toSesEvent } from './ses-event.ts';

/** Of SNS, for one call. */
const ENTRIES_PER_CALL = 10;
const RETRY_MS = 200;

/** Where events about the mails of a configuration set go. */
export interface EventDestination {
  readonly configurationSet: string;
  readonly topicArn: string;
  /** As the template spells them. */
  readonly types: readonly string[];
}

/** One event about a mail. */
interface MailEvent {
  readonly mail: EventMail;
  readonly recipient: string;
  readonly happening: Happening;
}

interface Message {
  readonly topicArn: string;
  readonly text: string;
}

/** All events of a mail, in order; a mail to several has one Send. */
const eventsOf = (mail: EventMail): MailEvent[] =>
  mail.to.map(bareAddress).flatMap((recipient, i) =>
    eventPlanOf(recipient)
      .filter(({ kind }) => kind !== 'Send' || i === 0)
      .map((happening) => ({ mail, recipient, happening })),
  );

/** Publishes SES's events about mails to the topics of their configuration sets. */
export const createEventPublisher = (ledger: EventLedger, onTrouble: (text: string) => void) => {
  const rules = createEventRules();
  const timers = new Set<NodeJS.Timeout>();
  const queue: Message[] = [];
  let destinations: readonly EventDestination[] = [];
  let sns: SNSClient | undefined;
  const aborter = new AbortController();
  const stopped = () => aborter.signal.aborted;
  let running = false;
  const counts = { published: 0, waiting: 0, lost: 0 };

  const sendSome = async (client: SNSClient): Promise<void> => {
    const topicArn = queue[0]?.topicArn;
    const others = queue.findIndex((message) => message.topicArn !== topicArn);
    const batch = queue.slice(0, Math.min(ENTRIES_PER_CALL, others < 0 ? queue.length : others));
    const entries = batch.map(({ text }, i) => ({ Id: String(i), Message: text }));
    await client.send(new PublishBatchCommand({ TopicArn: topicArn, PublishBatchRequestEntries: entries }));
    queue.splice(0, batch.length);
    counts.published += batch.length;
    counts.waiting -= batch.length;
  };
  const run = async (): Promise<void> => {
    if (running || sns === undefined) return;
    running = true;
    while (queue.length > 0 && !stopped()) {
      // What else is taken in this turn goes with the same call.
      await new Promise((done) => setImmediate(done));
      try {
        await sendSome(sns);
      } catch (error) {
        if (stopped()) break;
        onTrouble(`publishing events of SES: ${String(error)}`);
        await new Promise((done) => setTimeout(done, RETRY_MS));
      }
    }
    running = false;
  };
  const publish = ({ mail, recipient, happening }: MailEvent, delayMs: number, copies: number) => {
    const messages = destinations
      .filter(({ configurationSet, types }) => {
        return configurationSet === mail.configurationSetName && types.some((type) => isOfType(happening.kind, type));
      })
      .flatMap(({ topicArn }) => {
        const text = JSON.stringify(toSesEvent(mail, recipient, happening));
        return Array.from({ length: copies }, () => ({ topicArn, text }));
      });
    counts.waiting += messages.length;
    const enqueue = () => {
      queue.push(...messages);
      void run();
    };
    if (delayMs <= 0) {
      enqueue();
      return;
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      enqueue();
    }, delayMs);
    timers.add(timer);
  };
  return {
    rules,
    counts: () => ({ ...counts }),
    /** Opens the way to the topics. */
    connect: (client: SNSClient, to: readonly EventDestination[]) => {
      sns = client;
      destinations = to;
    },
    /**
     * Decides about the events of a mail and remembers what is put off or lost; call it before the mail itself is kept.
     * @returns what publishes the rest, to be called once the mail is kept
     */
    prepare: (mail: EventMail): (() => void) => {
      const now = Date.now();
      const starts = eventsOf(mail).map((event) => {
        const { recipient, happening } = event;
        const decided = rules.decide(recipient, happening.kind);
        if (decided === 'lost') {
          counts.lost += 1;
          ledger.append(mail.messageId, recipient, happening.kind, 'never');
          return () => undefined;
        }
        if (decided.delayMs > 0) ledger.append(mail.messageId, recipient, happening.kind, now + decided.delayMs);
        return () => {
          publish(event, decided.delayMs, decided.copies);
        };
      });
      return () => {
        for (const start of starts) start();
      };
    },
    /** Publishes a mail's events once more: whether the first ones were read is not known, and a repeat does no harm. */
    repeat: (mail: EventMail) => {
      for (const event of eventsOf(mail)) {
        const dueAt = ledger.find(mail.messageId, event.recipient, event.happening.kind);
        if (dueAt !== 'never') publish(event, (dueAt ?? 0) - Date.now(), 1);
      }
    },
    stop: () => {
      aborter.abort();
      for (const timer of timers) clearTimeout(timer);
      ledger.close();
    },
  };
};

/** The publisher of one gate. */
export type EventPublisher = ReturnType<typeof createEventPublisher>;
