import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CHECKS } from '../../../../tools/verify-deployment/checks.ts';
import { roomOf, scaleTo } from '../../../../tools/verify-deployment/numbers.ts';
import { readOptions, UsageError } from '../../../../tools/verify-deployment/options.ts';
import { decideStart, describePlan } from '../../../../tools/verify-deployment/start-decision.ts';
import { explainUnsent, type UnsentFacts } from '../../../../tools/verify-deployment/unsent.ts';
import { someOptions } from '../../../support/verification.ts';

const account = (given: object) => ({
  production: true,
  sendingEnabled: true,
  enforcement: 'HEALTHY',
  rate: 14,
  perDay: 50_000,
  sentToday: 0,
  ...given,
});

describe('numbers', () => {
  it('are whole for an account in production, and fit into a minute of one in the sandbox', () => {
    expect(scaleTo(account({}), 300).many).toBe(100);
    expect(scaleTo(account({ production: false, rate: 1, perDay: 200 }), 300).many).toBe(54);
    expect(scaleTo(account({ rate: 1, perDay: 200, sentToday: 190 }), 300).many).toBe(5);
  });

  it('know no limit by -1', () => {
    expect(roomOf({ perDay: -1, sentToday: 1_000_000 })).toBe(Infinity);
    expect(scaleTo(account({ perDay: -1 }), 300).many).toBe(100);
  });

  it('never exceed 100, half of what is left of the quota, or the time that they are given', () => {
    const number = (max: number) => fc.double({ min: 0, max, noNaN: true });
    fc.assert(
      fc.property(number(1_000), fc.nat(100_000), fc.nat(100_000), (rate, perDay, sentToday) => {
        const { many, secondsToSend } = scaleTo(account({ rate, perDay, sentToday }), 60);
        expect(many).toBeGreaterThanOrEqual(1);
        expect(many).toBeLessThanOrEqual(Math.max(1, Math.min(100, Math.max(0, perDay - sentToday) / 2)));
        expect(secondsToSend(many)).toBeGreaterThanOrEqual(60 + (rate > 0.3 ? many / rate : 0));
      }),
    );
  });
});

describe('options', () => {
  const read = (...args: string[]) => readOptions(args, { TOKEN: 'of-the-stage', OPERATOR_TOKEN: '' });

  it('take a stage and the token of the environment, and wait for a yes', () => {
    expect(read('--stage', 'prod')).toMatchObject({ stage: 'prod', token: 'of-the-stage', yes: false, waitSeconds: 300 });
    expect(read('--stage', 'prod')).toMatchObject({ operatorToken: undefined, large: 'cancel', largeCount: 50_000 });
    expect(read('--stage', 'prod', '--token', 'other', '--yes')).toMatchObject({ token: 'other', yes: true });
  });

  it('take no token of the environment for the local stack, which needs no yes', () => {
    expect(read('--local')).toMatchObject({ stage: undefined, token: undefined, yes: true, waitSeconds: 60 });
  });

  it('leave out what they are told to', () => {
    expect(read('--local', '--no-large', '--no-redrive', '--only', 'api,widget')).toMatchObject({
      large: 'none',
      redrive: false,
      only: ['api', 'widget'],
    });
  });

  it.each([
    [[], 'Give --stage <stage> or --local.'],
    [['--local', '--stage', 'prod'], 'Give --stage <stage> or --local.'],
    [['--local', '--large', 'all'], '--large is cancel, send or none, not all'],
    [['--local', '--large-count', '50001'], '--large-count is a whole number from 1 to 50000, not 50001'],
    [['--stage', 'Prod'], '--stage is a short lower-case name such as dev or prod, not Prod'],
    [['--local', '--fast'], "Unknown option '--fast'"],
  ])('are refused in words: %j', (args, words) => {
    expect(() => read(...args)).toThrow(UsageError);
    expect(() => read(...args)).toThrow(words);
  });
});

describe('the start', () => {
  const checks = [{ name: 'Pause and resume', disturbs: true as const }];
  const quiet = { messages: 0, openDispatches: 0 };

  it('needs a yes', () => {
    expect(decideStart({ yes: false, inUse: false }, quiet, checks)).toEqual({
      start: false,
      say: 'Nothing was done. Add --yes to start.',
    });
    expect(decideStart({ yes: true, inUse: false }, quiet, checks)).toEqual({ start: true });
  });

  it('does not happen where mails wait, unless what delays them is left out', () => {
    const busy = { messages: 1, openDispatches: 2 };
    const refused = decideStart({ yes: true, inUse: false }, busy, checks);

    expect(refused).toMatchObject({ start: false });
    expect(refused).toHaveProperty(
      'say',
      'Nothing was done: mails wait on this stage (1 message is in the send queue, 2 dispatches are not finished), and the checks would delay them. Wait until they are sent, or add --in-use, which leaves out "Pause and resume".',
    );
    expect(decideStart({ yes: true, inUse: true }, busy, checks)).toEqual({ start: true });
    expect(decideStart({ yes: true, inUse: false }, busy, [{ name: 'Dashboard widget' }])).toEqual({ start: true });
  });

  it('happens where the traffic cannot be read: the checks say why', () => {
    const unknown = { messages: undefined, openDispatches: undefined };

    expect(decideStart({ yes: true, inUse: false }, unknown, checks)).toEqual({ start: true });
  });
});

describe('the plan', () => {
  it('says what is changed, and that a page goes out on AWS', () => {
    const plan = describePlan(CHECKS, someOptions({ stage: 'prod' }), 100).join('\n');

    expect(plan).toContain('Send up to 112 test mails');
    expect(plan).toContain('Pause sending for about 15 seconds');
    expect(plan).toContain('Accept a test dispatch of 50000 recipients, and cancel it at once.');
    expect(plan).toContain('pages the people on duty');
  });

  it('names neither pause nor dead letter on a stage in use, and no change by checks that only read', () => {
    const inUse = describePlan(CHECKS, someOptions({ stage: 'prod', inUse: true }), 100).join('\n');
    const reading = CHECKS.filter(({ id }) => ['widget', 'event-path'].includes(id));

    expect(inUse).not.toMatch(/Pause|malformed|50000/);
    expect(describePlan(reading, someOptions(), 100)).toEqual(['Only read.']);
  });
});

describe('a mail that was not sent', () => {
  const active = { paused: false };
  const pending = { status: 'PENDING', lastErrorCode: undefined, attempts: [] };
  const depth = (visible: number, inFlight = 0) => ({ visible, inFlight, delayed: 0 });

  const facts: readonly [string, Partial<UnsentFacts>, string][] = [
    ['a pause by the service', { sending: { paused: true, by: 'service', code: 'ACCESS_DENIED' } }, 'paused'],
    ['a used-up quota', { sending: { paused: true, by: 'service', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' } }, 'quota'],
    ['a refusal', { recipient: { ...pending, status: 'FAILED', lastErrorCode: 'MESSAGE_REJECTED' } }, 'refused'],
    ['a refusal that is tried again', { recipient: { ...pending, attempts: [{ code: 'ACCESS_DENIED' }] } }, 'refused'],
    ['messages that nothing takes', { depth: depth(3) }, 'not-received'],
    ['a sender that stores nothing', { recipient: { ...pending, status: 'PROCESSING' } }, 'no-outcome'],
    ['a relay that sends no message', {}, 'not-queued'],
  ];

  it.each(facts)('is explained by %s', (_, seen, problem) => {
    expect(explainUnsent({ sending: active, recipient: pending, depth: depth(0), ...seen })).toMatchObject({ problem });
  });
});
