import { describe, expect, it } from 'vitest';
import * as z from 'zod';

import { amount, parseEnv, positive, text } from '../../../../lambda/config/env.ts';
import { OperateDispatchesEnv } from '../../../../lambda/handlers/operate-dispatches/env.ts';
import { OperateSendingEnv } from '../../../../lambda/handlers/operate-sending/env.ts';
import { RelayOutboxEnv } from '../../../../lambda/handlers/relay-outbox/env.ts';
import { ResolveUnclearEnv } from '../../../../lambda/handlers/resolve-unclear/env.ts';
import { RunTaskEnv } from '../../../../lambda/handlers/run-task/env.ts';
import { SendRecipientsEnv } from '../../../../lambda/handlers/send-recipients/env.ts';
import { SweepEnv } from '../../../../lambda/handlers/sweep/env.ts';

const SENDER = {
  STAGE: 'prod',
  TABLE_NAME: 'mail',
  TABLE_ID: 'table-1',
  LIST_BUCKET: 'lists',
  MAX_MAIL_BYTES: '1000000',
  SEND_QUEUE_URL: 'https://sqs/sends',
  CONFIGURATION_SET: 'mail-events',
  LEASE_SECONDS: '300',
  SES_TIMEOUT_SECONDS: '10',
  ATTEMPTS_PER_ROUND: '7',
  BACKOFF_BASE_SECONDS: '30',
  BACKOFF_CAP_SECONDS: '3600',
  MAX_RECEIVE_COUNT: '11',
  MAX_CONCURRENCY: '5',
  PARALLEL_CALLS: '10',
  MAX_SEND_RATE: '0',
  RATE_SHARE: '0.9',
  PAUSE_BASE_SECONDS: '60',
  PAUSE_CAP_SECONDS: '600',
  PAUSE_LOOK_SECONDS: '900',
  FROM_ADDRESS: 'Recruiting <jobs@example.org>',
  ALLOWED_RECIPIENTS: 'kim@example.com,team.example',
  RETENTION_DAYS: '180',
};

const RESOLVER = {
  STAGE: 'prod',
  TABLE_NAME: 'mail',
  SEND_QUEUE_URL: 'https://sqs/sends',
  CONFIGURATION_SET: 'mail-events',
  LEASE_SECONDS: '300',
  SES_TIMEOUT_SECONDS: '10',
  ATTEMPTS_PER_ROUND: '7',
  BACKOFF_BASE_SECONDS: '30',
  BACKOFF_CAP_SECONDS: '3600',
  UNCLEAR_POLICY: 'auto',
  WATERMARK_MARGIN_SECONDS: '60',
  FEEDBACK_REDELIVERY_SECONDS: '70',
  UNKNOWN_AFTER_SECONDS: '3600',
  RESENDS_AFTER_LOST: '0',
  FROM_ADDRESS: 'Recruiting <jobs@example.org>',
  RETENTION_DAYS: '180',
};

describe('the settings of a function', () => {
  it('are numbers where they count something', () => {
    expect(parseEnv(SendRecipientsEnv, SENDER)).toMatchObject({ LEASE_SECONDS: 300, MAX_SEND_RATE: 0 });
    expect(parseEnv(ResolveUnclearEnv, RESOLVER)).toMatchObject({ RESENDS_AFTER_LOST: 0, UNCLEAR_POLICY: 'auto' });
  });

  it('are lists where they name several, and a list may be empty but not missing', () => {
    expect(parseEnv(SendRecipientsEnv, SENDER).ALLOWED_RECIPIENTS).toEqual(['kim@example.com', 'team.example']);
    expect(parseEnv(SendRecipientsEnv, { ...SENDER, ALLOWED_RECIPIENTS: '' }).ALLOWED_RECIPIENTS).toEqual([]);
    expect(() => parseEnv(SendRecipientsEnv, { ...SENDER, ALLOWED_RECIPIENTS: undefined })).toThrow(/ALLOWED_RECIPIENTS/);
  });

  it.each([
    ['TABLE_NAME', ''],
    ['LEASE_SECONDS', '0'],
    ['LEASE_SECONDS', '-1'],
    ['LEASE_SECONDS', '1.5'],
    ['LEASE_SECONDS', 'five'],
    ['LEASE_SECONDS', ''],
    ['MAX_SEND_RATE', '-1'],
    ['RATE_SHARE', '0'],
    ['RATE_SHARE', '1.1'],
    ['MAX_SEND_RATE', 'fast'],
  ])('fail at start when %s is %o, by its name', (name, value) => {
    expect(() => parseEnv(SendRecipientsEnv, { ...SENDER, [name]: value })).toThrow(new RegExp(`bad environment: ${name}: `));
  });

  it('fail at start when the policy is none', () => {
    expect(() => parseEnv(ResolveUnclearEnv, { ...RESOLVER, UNCLEAR_POLICY: 'hold' })).toThrow(
      /bad environment: UNCLEAR_POLICY: /,
    );
  });

  it.each([
    ['the sender', SendRecipientsEnv],
    ['what resolves unclear attempts', ResolveUnclearEnv],
    ['the relay', RelayOutboxEnv],
    ['the task worker', RunTaskEnv],
    ['what changes dispatches', OperateDispatchesEnv],
    ['what pauses sending', OperateSendingEnv],
    ['the sweeper', SweepEnv],
  ])('of %s are named, each and every one, when they are missing', (_name, schema) => {
    const names = Object.keys(schema.shape);

    expect(() => parseEnv(schema, {})).toThrow(new RegExp(names.join('.*')));
  });

  it('do not show values in the error, which goes to the log', () => {
    expect(() => parseEnv(z.object({ N: positive }), { N: 'kim@example.com' })).toThrow(/^(?!.*kim@example\.com)/);
  });

  it('may be nothing only where nothing is an amount', () => {
    expect(amount.safeParse('0').success).toBe(true);
    expect(positive.safeParse('0').success).toBe(false);
    expect(text.safeParse('').success).toBe(false);
  });
});
