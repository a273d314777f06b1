import { describe, expect, it } from 'vitest';

import {
  applyCommand,
  checkCommand,
  type Command,
  type CommandCheck,
  failedBy,
} from '../../../../../lambda/domain/dispatch/command.ts';
import type { DispatchStatus } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import type { Recipient } from '../../../../../lambda/domain/recipient/recipient.ts';
import { aDispatch, exhausted, failed, pending, rowCounts, sent, unknown } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const TABLE: readonly (readonly [DispatchStatus, Readonly<Record<Command, CommandCheck>>])[] = [
  ['ACCEPTED', { cancel: 'go-ahead', resume: 'not-stopped', retry: 'go-ahead', settle: 'go-ahead', export: 'go-ahead' }],
  ['IN_PROGRESS', { cancel: 'go-ahead', resume: 'not-stopped', retry: 'go-ahead', settle: 'go-ahead', export: 'go-ahead' }],
  ['STOPPED', { cancel: 'go-ahead', resume: 'go-ahead', retry: 'go-ahead', settle: 'go-ahead', export: 'go-ahead' }],
  [
    'COMPLETED',
    { cancel: 'already-completed', resume: 'not-stopped', retry: 'go-ahead', settle: 'go-ahead', export: 'go-ahead' },
  ],
  [
    'CANCELLED',
    { cancel: 'done-already', resume: 'not-stopped', retry: 'already-cancelled', settle: 'go-ahead', export: 'go-ahead' },
  ],
];

describe('what a person may do to a dispatch', () => {
  it.each(TABLE)('that is %s is as the table says', (status, expected) => {
    const names = ['cancel', 'resume', 'retry', 'settle', 'export'] as const;

    expect(Object.fromEntries(names.map((name) => [name, checkCommand(name, status)]))).toEqual(expected);
  });
});

describe('a dispatch', () => {
  const stopped = aDispatch({
    status: 'STOPPED',
    generation: 4,
    failureReason: 'permanent-failures',
    faultCode: 'INVALID_PARAMETER',
    faultSince: T0,
    stoppedAt: T0 + 1,
    ...rowCounts({ FAILED: 10 }),
  });

  it('that is resumed is in progress again, and nothing is left of why it was stopped', () => {
    expect(applyCommand('resume', stopped, T0 + 9)).toEqual(
      aDispatch({
        status: 'IN_PROGRESS',
        generation: 5,
        resumedAt: T0 + 9,
        lastProgressAt: T0 + 9,
        ...rowCounts({ FAILED: 10 }),
      }),
    );
  });

  it('that is resumed still names the version of its template', () => {
    expect(applyCommand('resume', { ...stopped, templateVersion: 'v-1' }, T0 + 9)).toMatchObject({ templateVersion: 'v-1' });
  });

  it('that is cancelled stays what it was otherwise', () => {
    expect(applyCommand('cancel', stopped, T0 + 9)).toEqual({
      ...stopped,
      status: 'CANCELLED',
      generation: 5,
      cancelledAt: T0 + 9,
    });
  });
});

describe('a resume reopens', () => {
  const fault = { code: 'INVALID_PARAMETER', since: T0, until: T0 + 100 };
  const by = (failedAt: number, lastErrorCode = 'INVALID_PARAMETER') => failed({ failedAt, lastErrorCode });

  it.each<[string, Recipient, boolean]>([
    ['the first that failed by the fault', by(T0), true],
    ['the last that failed by it before the resume', by(T0 + 100), true],
    ['none that failed before it', by(T0 - 1), false],
    ['none that failed anew after the resume', by(T0 + 101), false],
    ['none that failed by something else', by(T0 + 1, 'MESSAGE_REJECTED'), false],
    ['none whose attempts were used up', exhausted({ failedAt: T0 + 1 }), false],
    ['none of whom nobody knows', unknown({ failedAt: T0 + 1, lastErrorCode: 'INVALID_PARAMETER' }), false],
    ['none that is sent', sent({ sentAt: T0 + 1 }), false],
    ['none that waits', pending({ lastErrorCode: 'INVALID_PARAMETER' }), false],
  ])('%s (S10)', (_name, recipient, expected) => {
    expect(failedBy(recipient, fault)).toBe(expected);
  });
});
