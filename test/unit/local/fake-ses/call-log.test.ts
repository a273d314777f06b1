import { describe, expect, it } from 'vitest';

import { createCallLog, describeFault, takesMail } from '../../../../local/fake-ses/call-log.ts';
import { FAULTS, makeFault } from '../../../../local/fake-ses/faults/faults.ts';

const CALL = { recipient: 'kim@example.com', from: 'hr@example.org' };

describe('the log of calls', () => {
  it('keeps the newest, and shows them first', () => {
    const log = createCallLog(2);
    for (const outcome of ['first', 'second', 'third']) log.note({ at: '2026-01-01T00:00:00.000Z', recipient: '', outcome });

    expect(log.list().map(({ outcome }) => outcome)).toEqual(['third', 'second']);
  });
});

describe('a fault', () => {
  it.each([
    ['throttle', 'refused: TooManyRequestsException (429)', false],
    ['html-503', 'an HTML page with status 503 instead of an answer', false],
    ['reset-unread', 'connection broken before the request was read', false],
    ['reset-before', 'connection broken before the mail was taken', false],
    ['reset-after-accept', 'connection broken after the mail was taken', true],
    ['half-answer', 'taken, but half of the answer was sent', true],
    ['slow:5', 'taken, and answered after 5 s', true],
    ['silent', 'never answered', false],
    ['silent-after-accept', 'taken, and never answered', true],
  ])('%s is told as “%s”', (name, words, isTaken) => {
    const fault = makeFault(name, CALL);

    expect(fault && describeFault(fault)).toBe(words);
    expect(fault && takesMail(fault)).toBe(isTaken);
  });

  it('is told without what SES would say about an address', () => {
    const told = Object.keys(FAULTS).map((name) => {
      const fault = makeFault(name, CALL);
      return fault ? describeFault(fault) : '';
    });

    expect(told.filter((words) => words === '' || words.includes('@'))).toEqual([]);
  });
});
