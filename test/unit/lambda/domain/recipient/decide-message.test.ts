import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decideMessage, type MessageDecision, waitOrRequeue } from '../../../../../lambda/domain/recipient/decide-message.ts';
import type { Recipient } from '../../../../../lambda/domain/recipient/recipient.ts';
import { aSendMessage, cancelled, exhausted, failed, pending, processing, sent, unknown } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const MAX_RECEIVES = 11;
const HOUR = 3_600_000;

describe('a message does, by the row it meets', () => {
  it.each<[string, Recipient | undefined, MessageDecision]>([
    ['nothing more when the row is gone', undefined, { do: 'delete' }],
    ['claim one that is due', pending({ nextAttemptAt: T0 }), { do: 'claim' }],
    ['wait until one is due', pending({ nextAttemptAt: T0 + 90_000 }), { do: 'wait', until: T0 + 90_000 }],
    ['wait for the lease of another to end', processing(), { do: 'wait', until: T0 + 300_000 }],
    ['settle an ended lease', processing({ lease: { token: 'x', until: T0 } }), { do: 'note-unclear' }],
    ['nothing more when it was sent', sent(), { do: 'delete' }],
    ['nothing more when it failed for good', failed(), { do: 'delete' }],
    ['nothing more when nobody knows', unknown(), { do: 'delete' }],
    ['nothing more when it was cancelled', cancelled, { do: 'delete' }],
    ['keep failing as the message of used-up attempts', exhausted(), { do: 'keep-failing' }],
    ['reopen as its redrive', exhausted({ deadMessage: { id: 'm-1', sentAt: T0 - 1 } }), { do: 'reopen' }],
    ['nothing more as a stray', exhausted({ deadMessage: { id: 'm-2', sentAt: T0 - 1 } }), { do: 'delete' }],
  ])('%s', (_name, row, expected) => {
    expect(decideMessage(row, aSendMessage(), T0, MAX_RECEIVES)).toEqual(expected);
  });

  it.each([
    [8, 'wait'],
    [9, 'requeue'],
    [10, 'requeue'],
    [11, 'requeue'],
  ])('at receive %i of 11: %s, when it only has to wait', (receiveCount, does) => {
    expect(waitOrRequeue(aSendMessage({ receiveCount }), T0 + 60_000, MAX_RECEIVES)).toEqual({ do: does, until: T0 + 60_000 });
  });

  it('never wait beyond 12 h from the receive', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 * HOUR }), fc.integer({ min: 1, max: 8 }), (ahead, receiveCount) => {
        for (const row of [
          pending({ nextAttemptAt: T0 + 1 + ahead }),
          processing({ lease: { token: 'x', until: T0 + 1 + ahead } }),
        ]) {
          const met = decideMessage(row, aSendMessage({ receiveCount }), T0, MAX_RECEIVES);
          expect(met.do).toBe('wait');
          expect('until' in met && met.until).toBeLessThanOrEqual(T0 + 12 * HOUR);
        }
      }),
    );
  });
});
