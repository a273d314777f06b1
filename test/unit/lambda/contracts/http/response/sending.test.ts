import { describe, expect, it } from 'vitest';

import { parseSendingRequest, SendingView, toSendingView } from '../../../../../../lambda/contracts/http/response/sending.ts';
import type { Sending } from '../../../../../../lambda/domain/sending/pause.ts';
import { T0 } from '../../../../../support/clock.ts';

const AT = '2026-03-02T09:00:00.000Z';

describe('a request about sending', () => {
  it.each<[string, unknown, unknown]>([
    ['a pause', { paused: true }, { paused: true }],
    ['a pause with its reason', { paused: true, reason: '템플릿 오류' }, { paused: true, reason: '템플릿 오류' }],
    ['a pause whose reason is empty', { paused: true, reason: '' }, { paused: true }],
    ['the end of one', { paused: false }, { paused: false }],
    ['the end of one, with no reason', { paused: false, reason: null }, { paused: false }],
  ])('is understood: %s', (_name, body, query) => {
    expect(parseSendingRequest(body)).toEqual({ ok: true, query });
  });

  it.each<[string, unknown, [string, string][]]>([
    ['is no object', 'pause', [['', 'type']]],
    ['says nothing', {}, [['/paused', 'required']]],
    ['says neither yes nor no', { paused: 'yes' }, [['/paused', 'type']]],
    ['has a field nobody knows', { paused: true, until: AT }, [['/until', 'unknown-field']]],
    ['has a reason that is too long', { paused: true, reason: '가'.repeat(167) }, [['/reason', 'reason-length']]],
    ['has a line break in its reason', { paused: true, reason: 'a\nb' }, [['/reason', 'control-characters']]],
    ['gives a reason for going on', { paused: false, reason: 'all good' }, [['/reason', 'not-when-resuming']]],
    [
      'has several faults, and each is named',
      { paused: 1, reason: 2 },
      [
        ['/paused', 'type'],
        ['/reason', 'type'],
      ],
    ],
  ])('is refused when it %s', (_name, body, faults) => {
    const parsed = parseSendingRequest(body);

    expect(parsed).toMatchObject({ ok: false, total: faults.length });
    expect(!parsed.ok && parsed.faults.map(({ pointer, rule }) => [pointer, rule])).toEqual(faults);
  });

  it('may have a reason of 500 bytes', () => {
    expect(parseSendingRequest({ paused: true, reason: 'a'.repeat(500) }).ok).toBe(true);
    expect(parseSendingRequest({ paused: true, reason: 'a'.repeat(501) }).ok).toBe(false);
  });
});

describe('sending is shown', () => {
  it.each<[string, Sending, object]>([
    ['when nothing was ever paused', { version: 0 }, { paused: false }],
    ['after a pause', { version: 2, resumedAt: T0 }, { paused: false, since: AT }],
    [
      'with who paused it, and why',
      { version: 1, pause: { by: 'operator', who: 'op', since: T0, reason: 'wrong template' } },
      { paused: true, by: 'operator', who: 'op', reason: 'wrong template', since: AT },
    ],
    [
      'with the trouble, and when the service will try again',
      { version: 1, pause: { by: 'service', code: 'ACCOUNT_SENDING_PAUSED', since: T0, until: T0, seconds: 60, probeUntil: T0 } },
      { paused: true, by: 'service', code: 'ACCOUNT_SENDING_PAUSED', since: AT, until: AT },
    ],
  ])('%s', (_name, sending, view) => {
    expect(toSendingView(sending)).toEqual(view);
    expect(SendingView.parse(view)).toEqual(view);
  });
});
