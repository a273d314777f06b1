import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { paginateListSubscriptions, SetSubscriptionAttributesCommand, SNSClient } from '@aws-sdk/client-sns';
import { generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { CREDENTIALS } from '../../local/clients.ts';
import { REGION } from '../../local/cloudformation/types/identity.ts';
import type { Target } from '../../tools/verify-deployment/target.ts';
import { toLocalTarget } from '../../tools/verify-deployment/targets/local.ts';
import { poll, TestStack } from '../support/stack.ts';
import { CRASH_HOOKS } from '../support/stack-settings.ts';
import { printBroken, someOptions, verifyOnly } from '../support/verification.ts';

const MAIN = join(import.meta.dirname, '../../tools/verify-deployment/main.ts');
// Recovery would repair within seconds what is broken here; on AWS it waits for ten minutes.
const stack = new TestStack({ LOCAL_HOOKS: CRASH_HOOKS, STUCK_AFTER_SECONDS: '600', REVISIT_SECONDS: '900' });
const targets: Target[] = [];

const open = (token?: string): Target => {
  const target = toLocalTarget(stack.description, someOptions({ token }));
  targets.push(target);
  return target;
};

const environment = () => ({ ...process.env, LOCAL_DIR: stack.launched.directory });

const runTool = (...args: string[]): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [MAIN, '--local', ...args], { env: environment() }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, text: stdout + stderr });
    });
  });

const tableOf = (text: string): string[] => text.split('\n').filter((line) => /^ {2}(passed|FAILED|skipped) /.test(line));

const openDispatches = async (): Promise<string> => {
  const response = await stack.request('GET', '/dispatches?open=true', { token: stack.description.tokens.operator });
  return response.text();
};

/** How long a check waits for what never comes. */
const NEVER = { waitSeconds: 10 };

beforeAll(() => stack.start());
afterAll(async () => {
  for (const target of targets) target.close();
  await stack.end();
});

describe('a stack on which everything works', () => {
  it('passes every check, and nothing is left on it', async () => {
    const { code, text } = await runTool('--large-count', '5000', '--wait', '120');
    process.stdout.write(`\n${text}`);

    expect(tableOf(text).filter((line) => !line.startsWith('  passed'))).toEqual([
      expect.stringContaining('Alarms before'),
      expect.stringContaining('Alarms after'),
    ]);
    expect({ code, sum: text.trim().split('\n').at(-1) }).toEqual({ code: 0, sum: '15 passed, 0 failed, 2 skipped' });
    expect(await stack.sending()).toMatchObject({ paused: false });
    expect(await stack.queues.deadLetters()).toBe(0);
    expect(JSON.parse(await openDispatches())).toMatchObject({ dispatches: [] });
    expect((await fetch(`${stack.description.ses}/v2/email/templates/verify-deployment`)).status).toBe(404);
  });

  it('is not paused after two Ctrl-C in the middle of the pause, the second of which npm forwards', async () => {
    const child = spawn(process.execPath, [MAIN, '--local', '--only', 'pause', '--wait', '120'], {
      env: environment(),
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await poll(
      () => stack.sending(),
      ({ paused }) => paused,
    );
    child.kill('SIGINT');
    child.kill('SIGINT');

    expect((await ended)[0]).toBe(1);
    expect(await stack.sending()).toMatchObject({ paused: false });
    await poll(openDispatches, (text) => text.includes('"dispatches":[]'));
  });

  it('has no malformed message after Ctrl-C while it is on its way', async () => {
    const child = spawn(process.execPath, [MAIN, '--local', '--only', 'dead-letter', '--wait', '120'], {
      env: environment(),
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    const log = 'messages that cannot be understood';
    const before = stack.log('send-recipients').split(log).length;
    await poll(
      () => Promise.resolve(stack.log('send-recipients').split(log).length),
      (times) => times > before,
    );
    child.kill('SIGINT');

    await ended;
    expect(await stack.queues.deadLetters()).toBe(0);
    await poll(
      () => stack.queues.sends(),
      ({ visible, inFlight }) => visible === 0 && inFlight === 0,
    );
    expect(await stack.queues.deadLetters()).toBe(0);
  });

  it('is left alone while mails wait', async () => {
    await stack.pause();
    const id = await stack.accepted('waiting', stack.bodyOf(1));
    const { code, text } = await runTool();
    await stack.operate(id, 'cancel');
    await stack.sending({ paused: false });

    expect(code).toBe(1);
    expect(text).toMatch(/Nothing was done: mails wait on this stage \(.*1 dispatch is not finished/);
    expect(tableOf(text)).toEqual([]);
  });
});

describe('a stack on which something is broken', () => {
  const adviceOf = async (what: string, target: Target, ids: readonly string[], sendSeconds?: number) => {
    const { good, results } = await verifyOnly(target, ids, NEVER, sendSeconds);
    printBroken(
      what,
      results.filter(({ status }) => status === 'failed'),
    );
    expect(good).toBe(false);
    const { saw = '', advice = '' } = results.find(({ status }) => status === 'failed') ?? {};
    return { saw, advice };
  };

  it('names the issuer of the token and that of the stage', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const token = await new SignJWT({ scope: 'mail:send mail:read mail:operate' })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer('https://login.example.com')
      .setSubject('somebody')
      .setAudience('mail-dispatch')
      .setExpirationTime('1h')
      .sign(privateKey);
    const target = { ...open(token), expectedClaims: { issuer: 'https://login.example.com/', audience: ['mail-dispatch'] } };

    const { saw, advice } = await adviceOf('wrong issuer', target, ['api']);
    expect(saw).toBe(
      "GET /dispatches was answered 401. Its iss is https://login.example.com, but the stage's issuer is https://login.example.com/.",
    );
    expect(advice).toContain('issuer in cdk.json must equal iss');
  });

  it('says that the service does not find the template', async () => {
    await stack.fault({ fault: 'no-configuration-set', operation: 'GetEmailTemplate' });
    const { saw, advice } = await adviceOf('no template', open(), ['template']);
    await stack.clearFaults();

    expect(saw).toBe('SES has the template verify-deployment, but the service does not find it');
    expect(advice).toContain('templatePrefix');
  });

  it('says that no event of SES arrives', async () => {
    await stack.events({ recipient: '-events-', lost: true });
    const { saw, advice } = await adviceOf('events off', open(), ['template', 'events'], 120);

    expect(saw).toBe('success@ is none, bounce@ is none, complaint@ is none; all are SENT and no event has arrived');
    expect(advice).toContain('SES publishes no events of these mails');
  });

  it('says that no message reaches the send queue', async () => {
    await stack.outage('relay-outbox', 'sqs', 30);
    const { saw, advice } = await adviceOf('queue rights missing: the relay may not send', open(), ['template', 'one']);
    await stack.endOutages();
    // The relay waits before it tries again, and the tests that follow need it.
    await stack.finished(await stack.accepted('relayed-again', stack.bodyOf(1)));

    expect(saw).toBe('the recipient is PENDING, without an attempt; the send queue is empty');
    expect(advice).toContain('AccessDenied on sqs:SendMessage');
  });

  it('says that events come in an envelope', async () => {
    const sns = new SNSClient({ endpoint: stack.description.sqs, region: REGION, credentials: CREDENTIALS });
    const set = async (raw: 'true' | 'false') => {
      for await (const { Subscriptions = [] } of paginateListSubscriptions({ client: sns }, {})) {
        for (const { SubscriptionArn } of Subscriptions) {
          await sns.send(
            new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName: 'RawMessageDelivery', AttributeValue: raw }),
          );
        }
      }
    };
    await set('false');
    const { saw, advice } = await adviceOf('raw delivery off', open(), ['event-path']);
    await set('true');
    sns.destroy();

    expect(saw).toBe('the subscription wraps each event in an envelope of SNS');
    expect(advice).toContain('RawMessageDelivery');
  });

  it('says that the widget cannot read the table', async () => {
    await stack.outage('show-operations', 'dynamodb', 20);
    const { saw, advice } = await adviceOf('widget failing', open(), ['widget']);
    await stack.endOutages();

    expect(saw).toBe('the page says that the table gave no answer');
    expect(advice).toContain('log of ShowOperations');
  });

  it('says that no export is written', async () => {
    await stack.outage('run-task', 's3', 30);
    const { saw, advice } = await adviceOf('bucket refused: the task worker may not write', open(), ['template', 'export']);
    await stack.endOutages();

    expect(saw).toMatch(/^the export is still running after /);
    expect(advice).toContain('s3:PutObject');
  });

  it('says that the quota of 24 hours is used up', async () => {
    await stack.account({ perDay: 0 });
    await stack.fault({ fault: 'quota', recipient: '@simulator.amazonses.com' });
    const { results } = await verifyOnly(open(), ['account', 'template', 'one'], NEVER);
    printBroken(
      'quota',
      results.filter(({ status }) => status === 'failed'),
    );

    expect(results).toMatchObject([
      { status: 'failed', saw: '1000 mails a second, 0 in 24 hours, 0 left' },
      { status: 'passed' },
      { status: 'failed', saw: 'sending is paused by service, code ACCOUNT_DAILY_QUOTA_EXCEEDED' },
    ]);
  });
});
