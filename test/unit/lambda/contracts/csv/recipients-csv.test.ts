import { describe, expect, it } from 'vitest';

import { CSV_HEADER, toCsvLine } from '../../../../../lambda/contracts/csv/recipients-csv.ts';
import { aRecipient, failed, sent } from '../../../../support/builders.ts';

const cells = (line: string): string[] =>
  [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = '']) => cell.replaceAll('""', '"'));

describe('a line of the file', () => {
  it('has a value under each name, in quotes, and ends as RFC 4180 says', () => {
    const line = toCsvLine(aRecipient(sent(), { delivery: 'delivered' }));

    expect(line).toMatch(/^("([^"]|"")*",)*"([^"]|"")*"\r\n$/);
    expect(Object.fromEntries(cells(CSV_HEADER).map((name, i) => [name, cells(line)[i]]))).toEqual({
      applyId: 'a-1',
      email: 'kim@example.com',
      status: 'SENT',
      delivery: 'delivered',
      round: '1',
      attemptCount: '1',
      messageId: 'ses-1',
      sentAt: '2026-03-02T09:00:00.000Z',
      failedAt: '',
      cancelledAt: '',
      nextAttemptAt: '',
      lastErrorCode: '',
    });
  });

  it.each(['soft-bounced', 'bounced', 'complained'] as const)('tells a soft bounce from a permanent one: %s', (delivery) => {
    expect(cells(toCsvLine(aRecipient(sent(), { delivery })))[3]).toBe(delivery);
  });

  it('keeps any text: quotes, commas, line breaks, Korean', () => {
    const applyId = '지원자 "김", 1;2\n3';

    expect(cells(toCsvLine(aRecipient(failed(), { applyId })))[0]).toBe(applyId);
  });

  it.each(['=1+1', '+82', '-1', '@SUM(C1)', '\t=1', '\r=1', '\n=1', ' =1', '＝1', '＋1', '－1', '＠x'])(
    'cannot run as a formula (A9): %j',
    (applyId) => {
      expect(cells(toCsvLine(aRecipient(sent(), { applyId })))[0]).toBe(`'${applyId}`);
      expect(cells(toCsvLine(aRecipient(sent(), { email: `${applyId}@example.com` })))[1]).toMatch(/^'/);
    },
  );

  it('leaves harmless text alone', () => {
    expect(cells(toCsvLine(aRecipient(sent(), { applyId: 'a=b+c' })))[0]).toBe('a=b+c');
  });
});
