import { GetQueueAttributesCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { FunctionPool } from '../../../../local/lambda-host/pool.ts';
import { createOpsRoutes } from '../../../../local/ops-page/routes.ts';
import { sdkError } from '../../../support/dynamo.ts';

const ARN = 'arn:aws:lambda:us-east-1:000000000000:function:show-operations';
const HERE = { host: '127.0.0.1:3000', origin: 'http://127.0.0.1:3000', 'content-type': 'application/json' };

const sqs = mockClient(SQSClient);
const invoke = vi.fn<FunctionPool['invoke']>();
const nothing = () => Promise.resolve(undefined);
const widget: FunctionPool = {
  definition: {
    name: 'show-operations',
    arn: ARN,
    directory: '',
    handler: 'index.handler',
    timeoutSeconds: 20,
    memoryMegabytes: 512,
    environment: {},
  },
  invoke,
  warm: nothing,
  pids: () => [],
  used: () => ({ invocations: 0, milliseconds: 0, processorMilliseconds: 0 }),
  crash: nothing,
  stop: () => undefined,
};
const deps = {
  port: 3000,
  links: { inbox: 'http://127.0.0.1:8005' },
  widget,
  sqs: new SQSClient({ region: 'us-east-1' }),
  queues: { sends: { queueUrl: 'https://sqs/live', deadLetterQueueUrl: 'https://sqs/dead' } },
  fakeSes: {
    look: () => ({
      account: {
        EnforcementStatus: 'HEALTHY' as const,
        ProductionAccessEnabled: true,
        SendingEnabled: true,
        SendQuota: { Max24HourSend: 1, MaxSendRate: 1, SentLast24Hours: 0 },
      },
      faults: [],
      events: [],
      calls: [],
    }),
  },
};
const ask = async (
  method: string,
  path: string,
  headers: Record<string, string> = HERE,
  body: unknown = {},
  answering = deps,
) => {
  const answer = await createOpsRoutes(answering)({ method, path, headers, body: Buffer.from(JSON.stringify(body)) });
  return answer && { ...answer, text: answer.body.toString('utf8') };
};

beforeEach(() => {
  sqs.reset();
  sqs.on(GetQueueAttributesCommand).resolves({ Attributes: { ApproximateNumberOfMessages: '0' } });
  invoke.mockReset();
  invoke.mockResolvedValue({ ok: true, payload: JSON.stringify('<p>well</p>') });
});

describe('the operations page', () => {
  it('lets nothing run but its own script, and may not be framed', async () => {
    const page = await ask('GET', '/ops');

    const policy = page?.headers['content-security-policy'];
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(page?.text).toContain('<a href="http://127.0.0.1:8005">inbox</a>');
  });

  it('has a script that a browser can run, of all its parts', async () => {
    const script = await ask('GET', '/ops/page.js');

    expect(script?.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(script?.text).toContain('cwdb-action');
    expect(script?.text).not.toMatch(/^import /m);
  });

  it('answers nothing of what it does not have', async () => {
    expect(await ask('GET', '/ops/other')).toBeUndefined();
    expect(await ask('GET', '/ops/redrive')).toBeUndefined();
  });
});

describe('what fails', () => {
  it.each([
    ['GET', '/ops/state', {}],
    ['POST', '/ops/redrive', { queue: 'sends' }],
  ])('at %s %s is answered with a sentence, and without the error’s own words', async (method, path, body) => {
    sqs.on(GetQueueAttributesCommand).rejects(sdkError('QueueDoesNotExist', 400));

    const answer = await ask(method, path, HERE, body);

    expect(answer).toMatchObject({ status: 500, text: 'The local stack failed at this (QueueDoesNotExist).' });
  });
});

describe('a request of another site', () => {
  it.each([
    ['from another origin', { ...HERE, origin: 'https://evil.example' }],
    ['from another port of this machine', { ...HERE, origin: 'http://127.0.0.1:8005' }],
    ['from a page without an origin', { ...HERE, origin: 'null' }],
    ['that hides its origin', { host: HERE.host, 'content-type': HERE['content-type'] }],
    ['under a name of its own', { ...HERE, host: 'evil.example:3000', origin: 'http://evil.example:3000' }],
  ])('%s moves no dead letter', async (_, headers) => {
    expect((await ask('POST', '/ops/redrive', headers, { queue: 'sends' }))?.status).toBe(403);
    expect(sqs.calls()).toEqual([]);
  });

  it('with the type of a form moves no dead letter', async () => {
    const headers = { ...HERE, 'content-type': 'text/plain' };

    expect((await ask('POST', '/ops/redrive', headers, { queue: 'sends' }))?.status).toBe(415);
    expect(sqs.calls()).toEqual([]);
  });

  it('under a name of its own reads nothing', async () => {
    expect((await ask('GET', '/ops/state', { host: 'evil.example:3000' }))?.status).toBe(403);
  });
});

describe('a redrive', () => {
  it('tells how many were moved', async () => {
    sqs.on(GetQueueAttributesCommand).resolves({ Attributes: { ApproximateNumberOfMessages: '2' } });
    sqs.on(ReceiveMessageCommand).resolves({ Messages: [{ Body: '{}' }, { Body: '{}' }] });

    expect((await ask('POST', '/ops/redrive', HERE, { queue: 'sends' }))?.text).toBe('2 dead letters of sends moved back.');
  });

  it.each(['others', 'toString', undefined])('of the queue %s is refused with the names of those there are', async (queue) => {
    const answer = await ask('POST', '/ops/redrive', HERE, { queue });

    expect(answer).toMatchObject({ status: 400, text: 'The queue is one of sends.' });
  });
});

describe('the widget', () => {
  it('is asked as CloudWatch asks: the action’s words, and beside them what is in the forms', async () => {
    const call = { endpoint: ARN, payload: { show: 'overview' }, forms: { dispatchId: 'abc' }, theme: 'dark' };

    const answer = await ask('POST', '/ops/widget', HERE, call);

    expect(answer).toMatchObject({ status: 200, text: '<p>well</p>' });
    expect(invoke.mock.calls[0]?.[0]).toMatchObject({
      show: 'overview',
      widgetContext: { theme: 'dark', forms: { all: { dispatchId: 'abc' } }, params: {} },
    });
  });

  it('cannot lead to another function', async () => {
    const answer = await ask('POST', '/ops/widget', HERE, { endpoint: ARN.replace('show-', 'change-') });

    expect(answer).toMatchObject({ status: 502, text: 'The action names another function.' });
    expect(invoke).not.toHaveBeenCalled();
  });

  it.each([
    ['fails', { ok: false, errorType: 'Sandbox.Timedout', errorMessage: 'secret' } as const, /failed: Sandbox\.Timedout/],
    ['answers something else than HTML', { ok: true, payload: '{"markdown":"x"}' } as const, /something else than HTML/],
  ])('that %s is told in a sentence', async (_, result, words) => {
    invoke.mockResolvedValue(result);

    const answer = await ask('POST', '/ops/widget');

    expect(answer?.status).toBe(502);
    expect(answer?.text).toMatch(words);
    expect(answer?.text).not.toContain('secret');
  });

  it('that the template does not have is told in a sentence', async () => {
    const answer = await createOpsRoutes({ ...deps, widget: undefined })({
      method: 'POST',
      path: '/ops/widget',
      headers: HERE,
      body: Buffer.from('{}'),
    });

    expect(answer?.body.toString()).toBe('The template has no function for the widget.');
  });
});
