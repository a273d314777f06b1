import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { type Browser, chromium, type Page } from 'playwright-core';

/** Where Debian's package puts it. */
const USUAL = '/usr/bin/chromium';

/** The Chromium of this machine; undefined if there is none. */
export const findChromium = (): string | undefined =>
  [process.env['CHROMIUM_PATH'] ?? '', USUAL].find((path) => path !== '' && existsSync(path));

/** Starts it without a window. It shows pages of this machine only, so it may run as root, where it has no sandbox. */
export const startBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox'] });

/** A page, and what nobody should see on one. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts and of the console, and dialogs that nobody expected. */
  readonly faults: readonly string[];
}

/** Opens an address. Dialogs are answered with yes if their text is expected; so may be an error of the console. */
export const openPage = async (browser: Browser, address: string, expected = /^$/): Promise<WatchedPage> => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected.test(message.text())) faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    const isExpected = expected.test(dialog.message());
    if (!isExpected) faults.push(`dialog: ${dialog.message()}`);
    void (isExpected ? dialog.accept() : dialog.dismiss());
  });
  await page.goto(address);
  return { page, faults };
};

/** A picture in the folder SCREENSHOTS, if that is set: of the whole page, or of what a window shows of it. */
export const takePicture = async (page: Page, name: string, fullPage = true): Promise<void> => {
  const folder = process.env['SCREENSHOTS'] ?? '';
  if (folder === '') return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
};
