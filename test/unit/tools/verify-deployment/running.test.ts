import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { UnexpectedAnswer } from '../../../../tools/verify-deployment/api.ts';
import { type Check, failed, passed } from '../../../../tools/verify-deployment/check.ts';
import { CHECKS } from '../../../../tools/verify-deployment/checks.ts';
import { createCleanup } from '../../../../tools/verify-deployment/cleanup.ts';
import { explainError } from '../../../../tools/verify-deployment/explain-error.ts';
import { describeEnd, describeResult, isGood, wrap } from '../../../../tools/verify-deployment/report.ts';
import { chooseChecks, runChecks } from '../../../../tools/verify-deployment/run-checks.ts';
import { faultsOfToken } from '../../../../tools/verify-deployment/token.ts';
import { createWorld } from '../../../../tools/verify-deployment/verify.ts';
import { createWaiting, Interrupted } from '../../../../tools/verify-deployment/waiting.ts';
import { someOptions } from '../../../support/verification.ts';
import { aTarget } from '../../../support/verification-target.ts';

const check = (id: string, run: Check['run'], needs: readonly string[] = []): Check => ({
  id,
  name: `Check ${id}`,
  needs,
  advice: { broken: 'Repair it.' },
  run,
});
const good = () => Promise.resolve(passed('fine'));
const silent = { started: () => undefined, ended: () => undefined };
const world = () => createWorld(aTarget(), someOptions(), new AbortController().signal);
const run = (checks: readonly Check[]) => runChecks(checks, world(), silent);

describe('checks', () => {
  it('go on after a failure, but not those that need the failed one', async () => {
    const results = await run([
      check('a', () => Promise.resolve(failed('broken', 'it is broken'))),
      check('b', good, ['a']),
      check('c', good, ['b']),
      check('d', good),
    ]);

    expect(results).toMatchObject([
      { status: 'failed', saw: 'it is broken', advice: 'Repair it.' },
      { status: 'skipped', saw: 'It needs "Check a", which did not pass.' },
      { status: 'skipped', saw: 'It needs "Check b", which did not pass.' },
      { status: 'passed' },
    ]);
  });

  it('are skipped after Ctrl-C', async () => {
    const results = await run([check('a', () => Promise.reject(new Interrupted())), check('b', good)]);

    expect(results.map(({ status, saw }) => [status, saw])).toEqual([
      ['skipped', 'interrupted'],
      ['skipped', 'interrupted'],
    ]);
    expect(isGood(results, [])).toBe(false);
  });

  it('are explained when they throw', async () => {
    const [result] = await run([check('a', () => Promise.reject(new Error('something new')))]);

    expect(result).toMatchObject({ status: 'failed', saw: 'Error: something new' });
  });

  it('are chosen with those that they need', () => {
    expect(chooseChecks(CHECKS, ['pause']).map(({ id }) => id)).toEqual(['api', 'sending', 'template', 'one', 'pause']);
    expect(() => chooseChecks(CHECKS, ['pasue'])).toThrow('There is no check pasue. Checks: alarms-before,');
  });

  it('have ids of their own, and need only what comes before', () => {
    const ids = CHECKS.map(({ id }) => id);

    expect(new Set(ids).size).toBe(ids.length);
    CHECKS.forEach(({ needs = [] }, i) => {
      expect(needs.filter((need) => !ids.slice(0, i).includes(need))).toEqual([]);
    });
  });
});

describe('putting back', () => {
  const step = (what: string, undo: () => Promise<void>) => ({ what, byHand: `undo ${what}`, undo });

  it('goes from the newest to the oldest, tries again, and names what it could not', async () => {
    const cleanup = createCleanup(0);
    const done: string[] = [];
    let refusals = 2;
    cleanup.add(step('first', () => Promise.resolve(void done.push('first'))));
    cleanup.add(step('never', () => Promise.reject(new Error('no'))));
    cleanup.add(
      step('third time', () => {
        refusals -= 1;
        return refusals < 0 ? Promise.resolve(void done.push('third time')) : Promise.reject(new Error('not yet'));
      }),
    );
    cleanup.add(step('put back by itself', () => Promise.resolve(void done.push('twice'))))();

    expect(await cleanup.run()).toMatchObject([{ what: 'never', byHand: 'undo never' }]);
    expect(done).toEqual(['third time', 'first']);
  });
});

describe('waiting', () => {
  it('ends at once when the signal comes', async () => {
    const aborter = new AbortController();
    const waiting = createWaiting(aborter.signal);
    const never = waiting.until(
      () => Promise.resolve(0),
      () => false,
      3_600,
    );
    await sleep(10);
    aborter.abort();

    await expect(never).rejects.toBeInstanceOf(Interrupted);
    await expect(waiting.pause(1)).rejects.toBeInstanceOf(Interrupted);
  });

  it('asks once even without time, and tells the last answer', async () => {
    const { until } = createWaiting(new AbortController().signal);

    expect(
      await until(
        () => Promise.resolve('bad'),
        (answer) => answer === 'good',
        0,
      ),
    ).toMatchObject({ came: false, last: 'bad' });
  });
});

describe('the report', () => {
  const failure = { id: 'a', name: 'Queues', status: 'failed', saw: 'no message', advice: 'Look at the relay.' } as const;

  it('has a line for each check, what to do for each failure, and the sums', () => {
    expect(describeResult(failure)).toBe('  FAILED   Queues                       no message');
    expect(describeEnd([failure], [])).toBe(
      'Queues\n  Seen: no message\n  Do:   Look at the relay.\n\n0 passed, 1 failed, 0 skipped',
    );
  });

  it('is no good while something is left behind, and names it', () => {
    const left = [{ what: 'the pause of sending', byHand: 'PUT /sending' }];

    expect(isGood([], left)).toBe(false);
    expect(describeEnd([], left)).toContain('Left behind: the pause of sending. Put it back by hand: PUT /sending');
  });

  it('breaks lines at spaces only', () => {
    expect(wrap('one two averylongword', 7)).toEqual(['one two', 'averylongword']);
  });
});

describe('an error', () => {
  const named = (name: string, message: string) => Object.assign(new Error(message), { name });
  const answered = (status: number, body: unknown = '') =>
    new UnexpectedAnswer('POST /dispatches', { status, headers: new Headers(), body });

  it('names the action that AWS denied, and not who asked', () => {
    const { saw, advice } = explainError(
      named(
        'AccessDenied',
        'User: arn:aws:iam::123456789012:user/kim is not authorized to perform: sqs:SendMessage on resource: arn:aws:sqs:…',
      ),
    );

    expect(saw).toBe('AWS denied sqs:SendMessage to the credentials in use');
    expect(advice).toContain('allow sqs:SendMessage');
    expect(saw + advice).not.toContain('kim');
  });

  it.each([
    [answered(401), '401', 'fresh'],
    [answered(403), '403', 'scope'],
    [answered(422, { type: 'urn:mail-dispatch:problem:unknown-scenario' }), '422 unknown-scenario', 'allowedRecipients'],
    [new Error('Region is missing'), 'Region is missing', 'AWS_REGION'],
    [named('ExpiredTokenException', 'The token has expired'), 'ExpiredTokenException', 'aws sso login'],
    [new TypeError('fetch failed', { cause: named('Error', 'connect ECONNREFUSED') }), 'no answer', 'cannot be reached'],
  ])('is explained: %s', (error, saw, advice) => {
    const explained = explainError(error);

    expect(explained.saw).toContain(saw);
    expect(explained.advice).toContain(advice);
  });
});

describe('a token', () => {
  const tokenOf = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
  const expected = { issuer: 'https://login.example.com/', audience: ['mail-dispatch'] };

  it('is compared with the settings to the character', () => {
    const claims = { iss: 'https://login.example.com', aud: ['other'], exp: 1 };

    expect(faultsOfToken(tokenOf(claims), expected, 120_000)).toEqual([
      "Its iss is https://login.example.com, but the stage's issuer is https://login.example.com/.",
      "Its aud is other, but the stage's audience is mail-dispatch.",
      'It has expired.',
    ]);
    expect(faultsOfToken(tokenOf({ iss: expected.issuer, aud: 'mail-dispatch', exp: 500 }), expected, 0)).toEqual([]);
    expect(faultsOfToken('no token', expected, 0)).toEqual(['The token is not a JWT.']);
  });
});
