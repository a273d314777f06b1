import { describe, expect, it } from 'vitest';

import { createEventRules, EventRule } from '../../../../../local/fake-ses/events/rules.ts';

const rulesOf = (...orders: object[]) => {
  const rules = createEventRules();
  for (const order of orders) rules.add(EventRule.parse(order));
  return rules;
};
const AT_ONCE = { delayMs: 0, copies: 1 };

describe('the rules of events', () => {
  it('publish everything at once, once, while there are none', () => {
    expect(rulesOf().decide('kim@example.com', 'Send')).toEqual(AT_ONCE);
  });

  it('switch events off', () => {
    expect(rulesOf({ lost: true }).decide('kim@example.com', 'Delivery')).toBe('lost');
  });

  it('put off those of one recipient', () => {
    const { decide } = rulesOf({ recipient: 'kim@', delaySeconds: 360 });

    expect(decide('kim@example.com', 'Send')).toEqual({ delayMs: 360_000, copies: 1 });
    expect(decide('lee@example.com', 'Send')).toEqual(AT_ONCE);
  });

  it('lose those of one kind', () => {
    const { decide } = rulesOf({ kinds: ['Send'], lost: true });

    expect([decide('kim@example.com', 'Send'), decide('kim@example.com', 'Delivery')]).toEqual(['lost', AT_ONCE]);
  });

  it('publish several copies', () => {
    expect(rulesOf({ copies: 2 }).decide('kim@example.com', 'Send')).toEqual({ delayMs: 0, copies: 2 });
  });

  it('mix the order up, each time the same way', () => {
    const delays = () => {
      const { decide } = rulesOf({ shuffleSeconds: 3 });
      return Array.from({ length: 50 }, () => decide('kim@example.com', 'Send')).map((each) =>
        each === 'lost' ? -1 : each.delayMs,
      );
    };

    expect(new Set(delays()).size).toBe(50);
    expect(Math.min(...delays())).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays())).toBeLessThan(3_000);
    expect(delays()).toEqual(delays());
  });

  it('lose a share', () => {
    const { decide } = rulesOf({ lost: true, share: 0.1 });
    const lost = Array.from({ length: 1_000 }, () => decide('kim@example.com', 'Send')).filter((each) => each === 'lost');

    expect(lost.length).toBeGreaterThan(60);
    expect(lost.length).toBeLessThan(140);
  });

  it('go by the newest that fits', () => {
    const { decide, clear } = rulesOf({ lost: true }, { recipient: 'kim@' });

    expect([decide('kim@example.com', 'Send'), decide('lee@example.com', 'Send')]).toEqual([AT_ONCE, 'lost']);
    clear();
    expect(decide('lee@example.com', 'Send')).toEqual(AT_ONCE);
  });

  it.each([{ kinds: ['send'] }, { share: 0 }, { copies: 0 }, { delaySeconds: -1 }, { enabled: false }])('refuse %j', (bad) => {
    expect(EventRule.safeParse(bad).success).toBe(false);
  });
});
