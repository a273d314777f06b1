import { describe, expect, it } from 'vitest';

import { readStage } from '../../lib/config/stages.ts';
import { GIVEN } from './synthesized.ts';

const read = (name: unknown, given: Readonly<Record<string, unknown>> = {}) => readStage(name, (key) => given[key]);

describe('a stage', () => {
  it('without an issuer and a sender is refused, and both are named', () => {
    expect(() => read('prod')).toThrow(
      /stage 'prod' cannot be built[^]*issuer is missing: give the https address[^]*fromAddress is missing: give the verified/,
    );
  });

  it.each(['http://issuer.example.org', 'issuer.example.org', ''])('with issuer %j is refused', (issuer) => {
    expect(() => read('prod', { ...GIVEN, issuer })).toThrow(/issuer/);
  });

  it.each(['nobody', 'a@b@c', 'Name a@b.example', '<a@b.example', ''])('with sender %j is refused', (fromAddress) => {
    expect(() => read('prod', { ...GIVEN, fromAddress })).toThrow(/fromAddress/);
  });

  it.each([undefined, '', 'Prod', 'a b', 'much-too-long-for-a-stage', 7])('named %j is refused', (name) => {
    expect(() => read(name, GIVEN)).toThrow(/'stage' must be a short lower-case name/);
  });

  it('has the times and the policy of production unless told otherwise', () => {
    expect(read('prod', GIVEN)).toEqual({
      name: 'prod',
      retainData: true,
      deletionProtection: false,
      accountAlarms: true,
      ...GIVEN,
      fromAddress: { header: '"Hiring" <jobs@mail.example.org>', address: 'jobs@mail.example.org', domain: 'mail.example.org' },
      formerFromAddresses: [],
      allowedRecipients: ['*'],
      sesSandbox: false,
      audience: ['mail-dispatch'],
      scopePrefix: '',
      allowedOrigins: [],
      replyToAddress: '',
      templatePrefix: '',
      sesTimeoutSeconds: 10,
      functionTimeoutSeconds: 30,
      leaseSeconds: 300,
      visibilitySeconds: 360,
      feedbackTimeoutSeconds: 10,
      feedbackVisibilitySeconds: 60,
      attemptsPerRound: 7,
      backoffBaseSeconds: 30,
      backoffCapSeconds: 3_600,
      maxMailBytes: 1_000_000,
      maxSendRate: 14,
      rateShare: 0.9,
      unclearPolicy: 'auto',
      resendsAfterLost: 1,
      watermarkMarginSeconds: 60,
      behindAfterSeconds: 45,
      unknownAfterSeconds: 3_600,
      pauseBaseSeconds: 60,
      pauseCapSeconds: 600,
      pauseLookSeconds: 900,
      retentionDays: 180,
      lateSeconds: 3_600,
      alarmEmail: '',
      repeatGuardSeconds: 600,
      stuckAfterSeconds: 600,
      revisitSeconds: 900,
      progressWindowSeconds: 1,
    });
  });

  it('called local has short times, an issuer and a sender of its own', () => {
    expect(read('local')).toMatchObject({
      issuer: 'https://issuer.localhost/',
      retainData: false,
      accountAlarms: true,
      sesTimeoutSeconds: 3,
      functionTimeoutSeconds: 10,
      leaseSeconds: 15,
      visibilitySeconds: 20,
      feedbackTimeoutSeconds: 3,
      feedbackVisibilitySeconds: 5,
      backoffBaseSeconds: 2,
      backoffCapSeconds: 60,
      watermarkMarginSeconds: 6,
      behindAfterSeconds: 5,
      unknownAfterSeconds: 60,
      pauseBaseSeconds: 2,
      pauseCapSeconds: 10,
      pauseLookSeconds: 10,
      stuckAfterSeconds: 10,
      revisitSeconds: 10,
      progressWindowSeconds: 0,
      attemptsPerRound: 7,
    });
  });

  it('takes numbers as text too, as the command line gives them', () => {
    expect(read('prod', { ...GIVEN, maxConcurrency: '2', maxSendRate: '0.5' })).toMatchObject({
      maxConcurrency: 2,
      maxSendRate: 0.5,
    });
  });

  it('takes an empty text for a number that was not given', () => {
    expect(read('prod', { ...GIVEN, maxConcurrency: '', leaseSeconds: '' })).toMatchObject({
      maxConcurrency: undefined,
      leaseSeconds: 300,
    });
  });

  it.each([
    ['maxConcurrency', 1],
    ['maxConcurrency', 1_001],
    ['parallelCalls', 11],
    ['warmWriteUnits', -1],
    ['attemptsPerRound', 0],
    ['attemptsPerRound', 1.5],
    ['visibilitySeconds', 43_201],
    ['maxSendRate', 0],
    ['maxSendRate', 10_001],
    ['rateShare', 0],
    ['rateShare', 0.91],
    ['retentionDays', 'long'],
    ['stuckAfterSeconds', true],
    ['unclearPolicy', 'guess'],
    ['watermarkMarginSeconds', 0],
    ['resendsAfterLost', 6],
    ['pauseBaseSeconds', 601],
    ['templatePrefix', 'a/b'],
    ['replyToAddress', 'nobody'],
    ['alarmEmail', 'Duty <duty@example.org>'],
    ['lateSeconds', 59],
    ['audience', ''],
    ['accountAlarms', 'perhaps'],
    ['deletionProtection', 1],
  ])('with %s %j is refused', (key, value) => {
    expect(() => read('prod', { ...GIVEN, [key]: value })).toThrow(new RegExp(`\n- ${key} `));
  });

  it.each([
    ['prod', 14],
    ['staging', 1],
  ])('%s keeps recipients for longer than a dead letter lives: %i days are refused (V11)', (name, retentionDays) => {
    expect(() => read(name, { ...GIVEN, accountAlarms: false, retentionDays })).toThrow(
      /retentionDays \(\d+\) must be at least 15/,
    );
  });

  it('of development may keep recipients for a day', () => {
    expect(read('dev', { ...GIVEN, retentionDays: 1 }).retentionDays).toBe(1);
  });

  it.each([true, 'true'])('is protected from deletion with %j', (deletionProtection) => {
    expect(read('prod', { ...GIVEN, deletionProtection }).deletionProtection).toBe(true);
  });

  it.each([
    ['prod', undefined, true],
    ['prod', 'false', false],
    ['dev', undefined, false],
    ['dev', true, true],
  ])('called %s with accountAlarms %j alarms on metrics of the account: %j', (name, accountAlarms, alarms) => {
    expect(read(name, { ...GIVEN, accountAlarms }).accountAlarms).toBe(alarms);
  });

  it('with a name of its own must say whether it alarms on metrics of the account', () => {
    expect(() => read('staging', GIVEN)).toThrow(
      /accountAlarms is missing: say true for one stage of the account and region, and false for every other/,
    );
    expect(read('staging', { ...GIVEN, accountAlarms: false }).accountAlarms).toBe(false);
  });

  it('tells all its faults at once', () => {
    expect(() =>
      read('prod', { ...GIVEN, maxConcurrency: 1, parallelCalls: 99, backoffBaseSeconds: 3_601, unclearPolicy: 'guess' }),
    ).toThrow(/backoffBaseSeconds[^]*unclearPolicy[^]*maxConcurrency[^]*parallelCalls/);
  });

  it('whose first wait is longer than its longest is refused', () => {
    expect(() => read('prod', { ...GIVEN, backoffBaseSeconds: 60, backoffCapSeconds: 59 })).toThrow(
      /backoffBaseSeconds \(60\) must not exceed backoffCapSeconds \(59\)/,
    );
  });
});

describe('the time order', () => {
  it.each([
    ['sesTimeoutSeconds', 'functionTimeoutSeconds', { sesTimeoutSeconds: 30 }, 30, 30],
    ['functionTimeoutSeconds', 'leaseSeconds', { functionTimeoutSeconds: 300 }, 300, 300],
    ['leaseSeconds', 'visibilitySeconds', { leaseSeconds: 360 }, 360, 360],
    ['leaseSeconds', 'visibilitySeconds', { visibilitySeconds: 100 }, 300, 100],
  ])('%s < %s is asked for by name', (shorter, longer, given, low, high) => {
    expect(() => read('prod', { ...GIVEN, ...given })).toThrow(`${shorter} (${low}) must be less than ${longer} (${high})`);
  });
});
