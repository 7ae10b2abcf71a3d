import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';

/** What Chromium itself says of a page that is answered with a 404. */
export const NOT_FOUND = /^error: Failed to load resource: the server responded with a status of 404/;

/** A page that nobody answers. */
export const REFUSED = /^error: Failed to load resource: net::ERR_CONNECTION_REFUSED/;

/** So long may the page take for one step, on a busy machine too. */
const PATIENCE_MS = 20_000;

/** A page of the shared browser; the test fails by any error or violation of the policy in it that is not expected. */
export async function pageOf(options: BrowserContextOptions = {}, expected: readonly RegExp[] = []): Promise<Page> {
  const { page, troubles } = await watchedPageOf(options);
  onTestFinished(() => {
    expect(troubles.filter((trouble) => !expected.some((words) => words.test(trouble)))).toEqual([]);
  });
  return page;
}

/** A page and what goes wrong in it, as it goes wrong. */
export async function watchedPageOf(options: BrowserContextOptions = {}) {
  const browser = await chromium.connect(inject('browserEndpoint'));
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const troubles = await watch(context);
  return { page: await context.newPage(), troubles };
}

async function watch(context: BrowserContext): Promise<readonly string[]> {
  const troubles: string[] = [];
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(`${message.type()}: ${message.text()}`);
  });
  context.on('weberror', (error) => troubles.push(`thrown: ${error.error().message}`));
  context.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  await context.addInitScript(`
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error('policy violated: ' + violatedDirective + ' ' + blockedURI));
  `);
  return troubles;
}
