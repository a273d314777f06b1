import { describe, expect, it } from 'vitest';

import type { NotedAnswer } from '../../../../../../lambda/application/send/pause/noted-answer.ts';
import { createRefusalRules } from '../../../../../../lambda/application/send/pause/refusal-rules.ts';
import { createSharedCanary } from '../../../../../../lambda/application/send/pause/shared-canary.ts';
import { aKey } from '../../../../../support/builders.ts';
import { createFakeClock } from '../../../../../support/clock.ts';
import { createFakeCanaries } from '../../../../../support/fake-canaries.ts';
import { accepted, accessDenied, accountTrouble, permanent } from '../../../../../support/fakes.ts';
import { createSenderWorld } from '../../../../../support/sender-world.ts';

const HOUR = 3_600_000;

describe('a canary that SES refuses for its own sake', () => {
  it.each([1, 3, 9])(
    'is reported when %d recipients are refused again and again, each canary once, and fails nobody',
    async (n) => {
      const applyIds = Array.from({ length: n }, (_, i) => `a-${i + 1}`);
      const world = createSenderWorld({ applyIds, answer: () => accountTrouble });
      world.provider.canaryAnswer = () => permanent;
      await world.queue.send(applyIds.map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));

      await world.run(HOUR);

      expect(world.provider.canaries).toBeGreaterThan(0);
      expect(world.pauses).toEqual(
        Array.from({ length: world.provider.canaries }, () => ({ type: 'canary-unusable', code: 'ACCOUNT_SENDING_PAUSED' })),
      );
      expect(world.sending.state.pause).toBeUndefined();
      expect(world.statuses()).toEqual(applyIds.map(() => 'PENDING'));
    },
  );

  it('is reported when ten of one dispatch are refused and mails of others are accepted, and pauses nothing', async () => {
    const clock = createFakeClock();
    const sendCanary = () => Promise.resolve(permanent);
    const stopped: string[] = [];
    const rules = createRefusalRules({
      canary: createSharedCanary(createFakeCanaries(), { sendCanary }, 'jobs@example.com', clock.now),
      stopDispatch: (dispatchId) => Promise.resolve(void stopped.push(dispatchId)),
      fromAddress: 'jobs@example.com',
      clock: clock.now,
    });
    const answerOf = (dispatchId: string, applyId: string, answer: NotedAnswer['answer']): NotedAnswer => ({
      key: { ...aKey(applyId), dispatchId },
      answer,
      from: 'jobs@example.com',
      startedAt: clock.now(),
    });
    const decided: unknown[] = [];

    for (let i = 0; i < 12; i += 1) {
      rules.add([answerOf('good', `g-${i}`, accepted), answerOf('bad', `b-${i}`, accessDenied)]);
      decided.push(await rules.decide(() => true));
      clock.advance(500);
    }

    expect(decided.filter((each) => each !== undefined)).toEqual([{ code: 'ACCESS_DENIED', pauses: false, isUnusable: true }]);
    expect(stopped).toEqual([]);
  });
});
