import type { SESv2Client } from '@aws-sdk/client-sesv2';
import type { SQSClient } from '@aws-sdk/client-sqs';

/** What a target has, or why it has none. */
export type Offered<T> = { readonly has: true; readonly value: T } | { readonly has: false; readonly why: string };

/** Says that there is such a thing. */
export const offer = <T>(value: T): Offered<T> => ({ has: true, value });

/** Says that there is none. */
export const lacking = (why: string): Offered<never> => ({ has: false, why });

/** A CloudWatch alarm of the stage. */
export interface AlarmState {
  readonly name: string;
  readonly state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
  /** The impact sentence and the section of the runbook. */
  readonly description: string;
}

/** Where the configuration set publishes events of SES to. */
export interface EventDestination {
  readonly enabled: boolean;
  /** As SES spells them: `BOUNCE`, `COMPLAINT`. */
  readonly types: readonly string[];
  readonly topicArn: string;
}

/** The subscription of the feedback queue to the topic of the events. */
export interface EventSubscription {
  readonly raw: boolean;
}

/** The answer of the dashboard widget's function. */
export type WidgetAnswer = { readonly ok: true; readonly html: string } | { readonly ok: false; readonly reason: string };

/** A running deployment, and the ways to reach its parts. */
export interface Target {
  /** As a person calls it. */
  readonly name: string;
  /** Base address of the API, without a slash at the end. */
  readonly api: string;
  readonly tokens: { readonly sender: string; readonly operator: string };
  /** Claims that the stage's settings ask of a token, as far as they are known here. */
  readonly expectedClaims: { readonly issuer?: string; readonly audience?: readonly string[] };
  readonly ses: SESv2Client;
  readonly templatePrefix: string;
  readonly sqs: SQSClient;
  readonly queues: Readonly<Record<'send' | 'sendDeadLetters' | 'task' | 'feedback', string>>;
  /** Moves all dead letters of sends back, as an operator does. */
  readonly redrive: () => Promise<void>;
  readonly destinations: Offered<() => Promise<readonly EventDestination[]>>;
  /** Undefined if the feedback queue is not subscribed at all. */
  readonly subscription: () => Promise<EventSubscription | undefined>;
  readonly alarms: Offered<() => Promise<readonly AlarmState[]>>;
  readonly widget: () => Promise<WidgetAnswer>;
  readonly close: () => void;
}
