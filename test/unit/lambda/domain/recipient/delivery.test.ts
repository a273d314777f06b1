import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  DELIVERY_STATES,
  deliveryOf,
  type DeliveryState,
  EVENTS_KEPT,
  MAIL_EVENT_KINDS,
  type MailEvent,
  withEvent,
  worse,
} from '../../../../../lambda/domain/recipient/delivery.ts';
import { T0 } from '../../../../support/clock.ts';
import { aMailEvent } from '../../../../support/feedback-builders.ts';

const anyEvent: fc.Arbitrary<MailEvent> = fc.record(
  {
    kind: fc.constantFrom(...MAIL_EVENT_KINDS),
    messageId: fc.constantFrom('ses-1', 'ses-2'),
    at: fc.integer({ min: T0, max: T0 + 30 }),
    detail: fc.constantFrom('Permanent/General', 'abuse'),
    suppressed: fc.boolean(),
  },
  { requiredKeys: ['kind', 'messageId', 'at'] },
);

/** What a row says after those events. */
const deliveryAfter = (events: readonly MailEvent[]): DeliveryState =>
  events.reduce<DeliveryState>((state, event) => worse(state, deliveryOf(event)), 'none');

describe('the delivery state of a mail', () => {
  it('weighs its states in this order', () => {
    expect(DELIVERY_STATES).toEqual([
      'none',
      'delayed',
      'soft-bounced',
      'delivered',
      'rejected',
      'suppressed',
      'bounced',
      'complained',
    ]);
  });

  it.each<[string, Partial<MailEvent>, DeliveryState]>([
    ['a Send', { kind: 'send' }, 'none'],
    ['a delay', { kind: 'delivery-delay' }, 'delayed'],
    ['a delivery', { kind: 'delivery' }, 'delivered'],
    ['a reject', { kind: 'reject' }, 'rejected'],
    ['a rendering failure', { kind: 'rendering-failure' }, 'rejected'],
    ['a bounce', { kind: 'bounce' }, 'bounced'],
    ['a soft bounce', { kind: 'soft-bounce' }, 'soft-bounced'],
    ['a bounce by a suppression list (S15)', { kind: 'bounce', suppressed: true }, 'suppressed'],
    ['a complaint', { kind: 'complaint' }, 'complained'],
    ['a complaint by a suppression list (S15)', { kind: 'complaint', suppressed: true }, 'suppressed'],
  ])('by %s', (_name, event, state) => {
    expect(deliveryOf(aMailEvent(event))).toBe(state);
  });

  it('is not made better by a delivery after a bounce', () => {
    expect(worse('bounced', 'delivered')).toBe('bounced');
    expect(worse('delivered', 'bounced')).toBe('bounced');
  });

  it('is delivered whether a soft bounce comes before or after the delivery (V4)', () => {
    const delivery = aMailEvent({ kind: 'delivery' });
    const reply = aMailEvent({ kind: 'soft-bounce', detail: 'Transient/General' });

    expect(deliveryAfter([delivery, reply])).toBe('delivered');
    expect(deliveryAfter([reply, delivery])).toBe('delivered');
    expect(deliveryAfter([aMailEvent({ kind: 'delivery-delay' }), reply])).toBe('soft-bounced');
  });

  it('never gets better, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        const weights = events.map((_, i) => DELIVERY_STATES.indexOf(deliveryAfter(events.slice(0, i + 1))));
        expect(weights).toEqual(weights.toSorted((a, b) => a - b));
      }),
    );
  });

  it('is the same in whatever order the events come', () => {
    const withShuffled = fc
      .array(anyEvent, { maxLength: 30 })
      .chain((events) => fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })));
    fc.assert(
      fc.property(withShuffled, ([events, shuffled]) => {
        expect(deliveryAfter(shuffled)).toBe(deliveryAfter(events));
      }),
    );
  });
});

describe('the events that are kept of a mail', () => {
  it('stand in order of time', () => {
    const [first, second] = [aMailEvent({ at: T0 }), aMailEvent({ kind: 'delivery', at: T0 + 1 })];

    expect(withEvent([second], first)).toEqual([first, second]);
  });

  it('hold no event twice (E2)', () => {
    expect(withEvent([aMailEvent()], aMailEvent())).toBeUndefined();
  });

  it.each<[string, Partial<MailEvent>]>([
    ['kind', { kind: 'delivery' }],
    ['message id', { messageId: 'ses-2' }],
    ['time', { at: T0 + 1 }],
    ['detail', { detail: 'MailboxFull' }],
  ])('hold two that differ in their %s (E2)', (_name, other) => {
    expect(withEvent([aMailEvent()], aMailEvent(other))).toHaveLength(2);
  });

  it('are the newest twenty', () => {
    const many = Array.from({ length: EVENTS_KEPT }, (_, i) => aMailEvent({ at: T0 + i }));

    expect(EVENTS_KEPT).toBe(20);
    expect(withEvent(many, aMailEvent({ at: T0 + 99 }))).toEqual([...many.slice(1), aMailEvent({ at: T0 + 99 })]);
    expect(withEvent(many, aMailEvent({ at: T0 - 1 }))).toBeUndefined();
  });

  it('change by an event once, whatever came before it', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), anyEvent, (earlier, event) => {
        const events = earlier.reduce<MailEvent[]>((kept, each) => withEvent(kept, each) ?? kept, []);
        const once = withEvent(events, event) ?? events;
        expect(withEvent(once, event)).toBeUndefined();
        expect(once.length).toBeLessThanOrEqual(EVENTS_KEPT);
      }),
    );
  });
});
