import { describe, expect, it } from 'vitest';

import { createOperateSending, type SendingRequest } from '../../../../../lambda/application/commands/operate-sending.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import { SENDING, type Sending } from '../../../../../lambda/domain/sending/pause.ts';
import { createFakeClock, T0 } from '../../../../support/clock.ts';

const byService: Sending = {
  version: 4,
  pause: { by: 'service', code: 'ACCOUNT_SENDING_PAUSED', since: T0 - 9, until: T0 + 9, seconds: 60 },
};
const byOperator: Sending = { version: 5, pause: { by: 'operator', who: 'op', reason: 'wrong template', since: T0 - 9 } };

const world = (stored: Sending | 'unavailable', meanwhile: readonly Sending[] = []) => {
  const clock = createFakeClock();
  const others = [...meanwhile];
  let now = stored;
  const sending = createOperateSending({
    sending: {
      read: () => Promise.resolve(now),
      change: (next) => {
        now = others.shift() ?? now;
        if (now === 'unavailable' || next.version !== now.version + 1) return Promise.resolve(false);
        now = next;
        return Promise.resolve(true);
      },
    },
    clock: clock.now,
    random: () => 0.5,
    sleep: clock.sleep,
  });
  return { sending, stored: () => now };
};
const PAUSE: SendingRequest = { paused: true, who: 'op', reason: 'wrong template' };

describe('an operator', () => {
  it('sees how sending stands', async () => {
    expect(await world(byService).sending.read()).toEqual({ sending: byService, changed: false });
  });

  it.each<[string, Sending]>([
    ['while mails are sent', SENDING],
    ['over a pause of the service', byService],
  ])('pauses %s', async (_name, before) => {
    const { sending, stored } = world(before);
    const expected = {
      version: before.version + 1,
      pause: { by: 'operator', who: 'op', reason: 'wrong template', since: T0 },
    };

    expect(await sending.change(PAUSE)).toEqual({ sending: expected, changed: true });
    expect(stored()).toEqual(expected);
  });

  it.each<[string, Sending]>([
    ['of an operator', byOperator],
    ['of the service', byService],
  ])('ends a pause %s', async (_name, before) => {
    const { sending } = world(before);

    expect(await sending.change({ paused: false })).toEqual({
      sending: { version: before.version + 1, resumedAt: T0 },
      changed: true,
    });
  });

  it('who asks twice changes nothing the second time', async () => {
    expect(await world(byOperator).sending.change(PAUSE)).toEqual({ sending: byOperator, changed: false });
    expect(await world(SENDING).sending.change({ paused: false })).toEqual({ sending: SENDING, changed: false });
  });

  it('may give another reason', async () => {
    const { sending } = await world(byOperator).sending.change({ paused: true, who: 'op' });

    expect(sending.pause).toEqual({ by: 'operator', who: 'op', since: T0 });
  });

  it('prevails over a pause that the service sets at the same time', async () => {
    const { sending, stored } = world(SENDING, [byService]);

    expect(await sending.change(PAUSE)).toMatchObject({ sending: { version: 5 }, changed: true });
    expect(stored()).toMatchObject({ pause: { by: 'operator' } });
  });

  it.each<[string, Sending | 'unavailable', Sending[]]>([
    ['the table does not answer', 'unavailable', []],
    ['others are always faster', SENDING, Array.from({ length: 20 }, (_, i) => ({ ...byService, version: 10 + i }))],
  ])('is asked to come again when %s', async (_name, stored, meanwhile) => {
    await expect(world(stored, meanwhile).sending.change(PAUSE)).rejects.toThrow(Unavailable);
  });

  it('is asked to come again when a change fails', async () => {
    const sending = createOperateSending({
      sending: { read: () => Promise.resolve(SENDING), change: () => Promise.reject(new Error('timeout')) },
      clock: () => T0,
      random: () => 0,
      sleep: () => Promise.resolve(),
    });

    await expect(sending.change(PAUSE)).rejects.toThrow(Unavailable);
  });
});
