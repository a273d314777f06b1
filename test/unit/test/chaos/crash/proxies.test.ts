import { createServer, type Server } from 'node:http';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { listen } from '../../../../../local/ports.ts';
import { startCrashControl } from '../../../../chaos/crash/control.ts';
import { createCrashPlan } from '../../../../chaos/crash/plan.ts';
import { startCrashProxies } from '../../../../chaos/crash/proxies.ts';

let emulator: Server;
let enqueuedTasks: string[];
let killed: string[];
let undo: (() => void)[];
let target: string;
beforeEach(async () => {
  enqueuedTasks = [];
  killed = [];
  emulator = createServer((request, response) => {
    enqueuedTasks.push(`${request.method ?? ''} ${String(request.headers['x-amz-target'] ?? request.url)}`);
    response.end('{}');
  });
  target = `http://127.0.0.1:${await listen(emulator, { variable: 'none', port: 0 })}`;
  undo = [() => emulator.close()];
});
afterEach(() => {
  for (const step of undo) step();
  emulator.closeAllConnections();
});

const start = async () => {
  const plan = createCrashPlan();
  const proxies = await startCrashProxies({
    functionNames: ['send-recipients-function', 'sweep-function'],
    targets: { dynamodb: target, sqs: target, sesv2: target, s3: target, events: target },
    plan,
    crash: (name) => {
      killed.push(name);
      return Promise.resolve();
    },
  });
  const control = await startCrashControl(plan, proxies.cutOff);
  undo.push(control.stop, proxies.stop);
  const order = (body: object) => fetch(control.address, { method: 'POST', body: JSON.stringify(body) });
  const send = () =>
    fetch(`${proxies.endpointsOf('send-recipients-function').sesv2}/v2/email/outbound-emails`, { method: 'POST', body: '{}' });
  return { proxies, control, order, send };
};

describe('a proxy before an emulator', () => {
  it('lets everything through that no crash is ordered for', async () => {
    const { send, order } = await start();
    await order({ function: 'sweep', service: 'ses', operation: 'SendEmail', when: 'before' });

    expect((await send()).status).toBe(200);
    expect({ enqueuedTasks, killed }).toEqual({ enqueuedTasks: ['POST /v2/email/outbound-emails'], killed: [] });
  });

  it('kills the caller before the call is carried out', async () => {
    const { send, order } = await start();
    await order({ point: 'before-accept' });

    await expect(send()).rejects.toThrow();
    expect({ enqueuedTasks, killed }).toEqual({ enqueuedTasks: [], killed: ['send-recipients-function'] });
  });

  it('kills the caller after the call was carried out, without an answer', async () => {
    const { send, order, control } = await start();
    await order({ point: 'after-accept' });

    await expect(send()).rejects.toThrow();
    expect({ enqueuedTasks, killed }).toEqual({
      enqueuedTasks: ['POST /v2/email/outbound-emails'],
      killed: ['send-recipients-function'],
    });
    expect(await (await fetch(control.address)).json()).toMatchObject([{ operation: 'SendEmail', when: 'after', fired: 1 }]);
  });

  it('knows a call of DynamoDB and SQS by its header', async () => {
    const { proxies, order } = await start();
    await order({ function: 'sweep', service: 'dynamodb', operation: 'Query', when: 'before' });
    const call = (operation: string) =>
      fetch(proxies.endpointsOf('sweep-function').dynamodb, {
        method: 'POST',
        headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` },
      });

    expect((await call('GetItem')).status).toBe(200);
    await expect(call('Query')).rejects.toThrow();
    expect(enqueuedTasks).toEqual(['POST DynamoDB_20120810.GetItem']);
  });

  it('leaves messages in their queue if a crash is ordered for before they are deleted', async () => {
    const { proxies, order } = await start();
    await order({ point: 'before-delete' });

    expect(await proxies.crashBeforeDelete('sweep-function')).toBe(false);
    expect(await proxies.crashBeforeDelete('send-recipients-function')).toBe(true);
    expect(killed).toEqual(['send-recipients-function']);
  });
});

it('a call of S3 is known by its method, and what it is about by its key', async () => {
  const { proxies, order } = await start();
  await order({ function: 'sweep', service: 's3', operation: 'DeleteObject', when: 'before', about: '/d1/' });
  const call = (method: string, path: string) => fetch(`${proxies.endpointsOf('sweep-function').s3}${path}`, { method });

  expect((await call('DELETE', '/lists/t/d2/x')).status).toBe(200);
  expect((await call('GET', '/lists/t/d1/x')).status).toBe(200);
  await expect(call('DELETE', '/lists/t/d1/x')).rejects.toThrow();
  expect({ enqueuedTasks, killed }).toEqual({
    enqueuedTasks: ['DELETE /lists/t/d2/x', 'GET /lists/t/d1/x'],
    killed: ['sweep-function'],
  });
});

it('a function can be cut off from a service for a time', async () => {
  const { proxies, control, send } = await start();
  const outage = { function: 'send-recipients', service: 'ses', seconds: 0.2 };
  const otherService = () => fetch(proxies.endpointsOf('send-recipients-function').dynamodb);

  const response = await fetch(new URL('/_outage', control.address), { method: 'POST', body: JSON.stringify(outage) });

  expect(response.status).toBe(200);
  await expect(send()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  expect((await otherService()).status).toBe(200);
  await expect
    .poll(() =>
      send().then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
});

it('the control refuses an order for a point that there is none of', async () => {
  const { order } = await start();

  const response = await order({ point: 'after-lunch' });

  expect(response.status).toBe(400);
  expect(await response.text()).toContain('after-claim');
});
