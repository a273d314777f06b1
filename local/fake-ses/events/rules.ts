import * as z from 'zod';

import { createDraw } from '../faults/seeded-random.ts';
import { EVENT_KINDS, type EventKind } from './kinds.ts';

const seconds = z.number().nonnegative().max(86_400).default(0);

/** How events are published; without any rule each is published at once, once. */
export const EventRule = z.strictObject({
  /** Only events about mails to addresses that contain this text. */
  recipient: z.string().optional(),
  /** Only events of these kinds. */
  kinds: z.array(z.enum(EVENT_KINDS)).optional(),
  /** Only that share of the events it could be about, drawn at random from the seed. */
  share: z.number().gt(0).max(1).default(1),
  seed: z.number().int().default(1),
  /** Never published, not even after a restart. */
  lost: z.boolean().default(false),
  /** Published that much later ... */
  delaySeconds: seconds,
  /** ... and up to that much later still, each for itself, so that events overtake one another. */
  shuffleSeconds: seconds,
  copies: z.number().int().min(1).max(100).default(1),
});
export type EventRule = z.output<typeof EventRule>;

/** What is to become of one event. */
export type Publication = 'lost' | { readonly delayMs: number; readonly copies: number };

const AT_ONCE: Publication = { delayMs: 0, copies: 1 };

/** The rules that were ordered. The newest that is about an event decides: a later one makes an exception to an earlier one. */
export const createEventRules = () => {
  let rules: { readonly rule: EventRule; readonly draw: () => number }[] = [];

  const isAbout = ({ rule, draw }: (typeof rules)[number], recipient: string, kind: EventKind): boolean =>
    recipient.includes(rule.recipient ?? '') &&
    (rule.kinds === undefined || rule.kinds.includes(kind)) &&
    (rule.share === 1 || draw() < rule.share);

  return {
    add: (rule: EventRule) => {
      rules.push({ rule, draw: createDraw(rule.seed) });
    },
    list: (): readonly EventRule[] => rules.map(({ rule }) => rule),
    clear: () => {
      rules = [];
    },
    /** Decides about an event of a mail that SES just took. */
    decide: (recipient: string, kind: EventKind): Publication => {
      const found = rules.findLast((each) => isAbout(each, recipient, kind));
      if (found === undefined) return AT_ONCE;
      const { lost, delaySeconds, shuffleSeconds, copies } = found.rule;
      return lost ? 'lost' : { delayMs: (delaySeconds + shuffleSeconds * found.draw()) * 1000, copies };
    },
  };
};
