import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

import { findChromium, openPage, startBrowser, takePicture, type WatchedPage } from '../support/browser.ts';
import { poll } from '../support/stack.ts';
import { CRASH_HOOKS } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const chromium = findChromium();
if (chromium === undefined) process.stderr.write('No Chromium is found, so no page is tested; CHROMIUM_PATH may name one.\n');

const ATTACK = '<img src=x onerror=alert(1)>';
const ATTACK_IN_MAIL = '<img src=y onerror=alert(2)>';
const LOST = /^Failed to load resource/;
const REASON = 'the provider looks at our account';

describe.skipIf(chromium === undefined)('in a browser', () => {
  const stack = useStack('operations-page', { LOCAL_HOOKS: CRASH_HOOKS, ATTEMPTS_PER_ROUND: '2', BACKOFF_CAP_SECONDS: '1' });
  let browser: Browser;
  let opened: WatchedPage;
  beforeAll(async () => {
    browser = await startBrowser(chromium ?? '');
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await opened.page.close();
    expect(opened.faults).toEqual([]);
  });

  const open = async (path: string, expected?: RegExp): Promise<Page> => {
    opened = await openPage(browser, `${stack.description.api}${path}`, expected);
    return opened.page;
  };
  const textOf = (page: Page) => page.locator('main').innerText();
  const lookUp = async (page: Page, dispatchId: string, applyId: string): Promise<void> => {
    await page.locator('[name=dispatchId]').fill(dispatchId);
    await page.locator('[name=applyId]').fill(applyId);
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByText('Back to the overview').waitFor();
  };

  describe('when all is well', () => {
    it('the operations page says so, and shows the newest mails without whole addresses', async () => {
      const id = await stack.accepted('well', stack.bodyOf(3));
      await stack.finished(id);

      const page = await open('/ops');
      await page.locator('#calls tbody tr').nth(2).waitFor();
      await page.locator('#widget h3').first().waitFor();
      await takePicture(page, 'healthy');

      const text = await textOf(page);
      expect(text).toContain('Mails are sent.');
      expect(text).toMatch(/Dispatches in trouble\s+None\./);
      expect(text).toContain('No faults are ordered at the SES gate.');
      expect(await page.locator('#calls').innerText()).toMatch(/p…@example\.com\s+taken\s+0100/);
      expect(text).not.toMatch(/person-\d@example\.com/);
      expect(await page.locator('#queues button').count()).toBe(0);
    });

    it('the story of one recipient is found by the ids that somebody types', async () => {
      const page = await open('/ops');

      await lookUp(page, stack.idOf('well'), 'apply-1');
      await takePicture(page, 'story');

      const [mail] = stack.journal(stack.idOf('well')).filter(({ to }) => to.includes('person-1@example.com'));
      const text = await textOf(page);
      expect(text).toMatch(/Recipient apply-1\s+SENT, p…@example\.com, round 1, attempt 1/);
      expect(text).toContain(mail?.messageId);
    });

    it('what somebody types stays while the page brings itself up to date', async () => {
      const page = await open('/ops');
      await page.locator('[name=dispatchId]').pressSequentially('half an i');
      const asOf = await page.getByText('As of').innerText();

      await page.getByText('As of').filter({ hasNotText: asOf }).waitFor();
      await page.keyboard.type('d');

      expect(await page.locator('[name=dispatchId]').inputValue()).toBe('half an id');
    });

    it('a story stays on the page while somebody types the next id', async () => {
      const page = await open('/ops');
      await lookUp(page, stack.idOf('well'), 'apply-1');
      const asOf = await page.getByText('As of').innerText();

      await page.locator('[name=dispatchId]').fill('half an id');
      await page.getByText('As of').filter({ hasNotText: asOf }).waitFor();

      expect(await page.locator('#widget').innerText()).toContain('Recipient apply-1');
      expect(await page.locator('[name=dispatchId]').inputValue()).toBe('half an id');
    });

    it('what the stack fails at is told, and told no more once it is over', async () => {
      const page = await open('/ops', LOST);

      await page.route('**/ops/state', (route) => route.fulfill({ status: 500, body: 'The queues gave no answer.' }));
      await page.getByText('The queues gave no answer. This page goes on asking.').waitFor();
      await page.unroute('**/ops/state');

      await page.locator('#lost').waitFor({ state: 'hidden' });
    });

    it('a click that comes to nothing is told', async () => {
      const page = await open('/ops', LOST);
      await page.getByRole('button', { name: 'Look up' }).waitFor();

      await page.route('**/ops/widget', (route) => route.abort());
      await page.getByRole('button', { name: 'Look up' }).click();

      await page.getByText('That could not be shown: The local stack does not answer.').waitFor();
    });

    it('the Enter key in the form looks up as the button does, and what is no id is answered with a sentence', async () => {
      const page = await open('/ops');

      await page.locator('[name=dispatchId]').fill(ATTACK);
      await page.locator('[name=dispatchId]').press('Enter');

      await page.getByText('This is not the id of a dispatch').waitFor();
      expect(await page.locator('[name=dispatchId]').inputValue()).toBe(ATTACK);
    });

    it('a recipient whose id and variables hold HTML is shown as text and starts nothing (S12)', async () => {
      const body = stack.bodyOf(1);
      const variables = Object.fromEntries(
        Object.keys(body.recipients[0]?.variables ?? {}).map((name) => [name, ATTACK_IN_MAIL]),
      );
      const recipients = body.recipients.map((recipient) => ({ ...recipient, applyId: ATTACK, variables }));
      const id = await stack.accepted('attack', { ...body, recruitId: ATTACK, recipients });
      await stack.finished(id);

      const page = await open('/ops');
      await lookUp(page, id, ATTACK);

      expect(await page.locator('#widget code').allInnerTexts()).toContain(ATTACK);
      expect(await page.locator('img').count()).toBe(0);
    });
  });

  describe('in trouble', () => {
    let stoppedId: string;
    beforeAll(async () => {
      await stack.fault({ fault: 'bad-request', recipient: 'stopped-' });
      // Keeps the dispatch from being complete before it is stopped.
      await stack.fault({ fault: 'throttle', recipient: 'held@' });
      await stack.fault({ fault: 'conflict', recipient: 'stubborn-', times: 2 });
      stoppedId = await stack.accepted(
        'stopped',
        stack.bodyOf(60, (i) => (i < 59 ? `stopped-${i}` : 'held')),
      );
      await stack.accepted(
        'stubborn',
        stack.bodyOf(1, (i) => `stubborn-${i}`),
      );
      await poll(
        () => stack.dispatch(stoppedId),
        ({ status }) => status === 'STOPPED',
      );
      await poll(
        () => stack.queues.deadLetters(),
        (count) => count === 1,
      );
      await stack.sending({ paused: true, reason: REASON });
    });

    it('the page names the pause, the stopped dispatch, the dead letter and the faults', async () => {
      const page = await open('/ops');
      await page.getByRole('button', { name: 'Move back' }).waitFor();
      await page.locator('#widget tr').nth(1).waitFor();
      await takePicture(page, 'in-trouble');

      const widget = await page.locator('#widget').innerText();
      expect(widget).toContain(`Sending is paused by operator-1`);
      expect(widget).toContain(REASON);
      expect(widget).toMatch(new RegExp(`${stoppedId}.*STOPPED.*permanent-failures`, 's'));
      const around = await page.locator('#state').innerText();
      expect(around).toContain('Calls meet bad-request: recipient stopped-');
      expect(around).toContain('refused: BadRequestException (400)');
    });

    it('a click leads from the list to the story of the dispatch, and back', async () => {
      const page = await open('/ops');

      await page.locator('#widget tr', { hasText: stoppedId }).getByRole('button', { name: 'Story' }).click();
      await page.getByText(`POST /dispatches/${stoppedId}/resume`).waitFor();
      await takePicture(page, 'stopped');
      await page.getByRole('button', { name: 'Back to the overview' }).click();
      await page.getByText('Dispatches in trouble').waitFor();

      expect(await page.locator('[name=dispatchId]').inputValue()).toBe('');
    });

    it('a button that comes to nothing says that nothing was moved', async () => {
      const page = await open('/ops', /^Failed to load resource|^Move one dead letter/);
      await page.route('**/ops/redrive', (route) => route.abort());

      await page.getByRole('button', { name: 'Move back' }).click();

      await page.getByText('Nothing was moved, as far as is known').waitFor();
      expect(await stack.queues.deadLetters()).toBe(1);
    });

    it('the button behind a queue moves its dead letters back, once somebody says yes', async () => {
      const page = await open('/ops', /^Move one dead letter of sends back/);

      await page.getByRole('button', { name: 'Move back' }).click();

      await page.getByText('1 dead letter of sends moved back.').waitFor();
      await page.getByRole('button', { name: 'Move back' }).waitFor({ state: 'detached' });
      expect(await stack.queues.deadLetters()).toBe(0);
      await poll(
        () => stack.table.rows(stack.idOf('stubborn')),
        (rows) => rows[0]?.round === 2,
      );
    });
  });

  it('the description of the API shows every operation, its bodies and its problems', async () => {
    const page = await open('/docs');
    await takePicture(page, 'openapi', false);

    const response = await stack.request('GET', '/openapi.json', { token: '' });
    const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) }).parse(await response.json());
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const shown = await page.locator('h2 > code').allInnerTexts();
    expect(shown.toSorted()).toEqual(operations.toSorted());
    expect(await page.getByText('idempotency-key-conflict').count()).toBeGreaterThan(0);
  });
});
