import axe, { type AxeResults } from 'axe-core';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';

/** Logged by Chromium for a page with status 400 or 404. */
export const REJECTED = /^error: Failed to load resource: the server responded with a status of 40[04]/;

/** Logged by Chromium when the server is down. */
export const REFUSED = /^error: Failed to load resource: net::ERR_CONNECTION_REFUSED/;

/** Allows for a busy machine. */
const STEP_TIMEOUT_MS = 60_000;

/** A page of the shared browser; the test fails on any error, dialog or policy violation in it that is not expected. */
export async function openPage(options: BrowserContextOptions = {}, expected: readonly RegExp[] = []): Promise<Page> {
  const browser = await chromium.connect(inject('browserEndpoint'), { timeout: STEP_TIMEOUT_MS });
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const errors = await collectErrors(context);
  onTestFinished(() => {
    expect(errors.filter((error) => !expected.some((pattern) => pattern.test(error)))).toEqual([]);
  });
  return context.newPage();
}

/** The live list of errors, warnings, dialogs and policy violations. */
async function collectErrors(context: BrowserContext): Promise<readonly string[]> {
  const errors: string[] = [];
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(`${message.type()}: ${message.text()}`);
  });
  context.on('weberror', (error) => errors.push(`thrown: ${error.error().message}`));
  context.on('dialog', (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  await context.addInitScript(`
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error('policy violated: ' + violatedDirective + ' ' + blockedURI));
  `);
  return errors;
}

/** The page is no wider than its window and has no accessibility violations, in the state in which it is. */
export async function expectSound(page: Page): Promise<void> {
  expect([page.url(), await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([
    page.url(),
    0,
  ]);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  const texts = violations.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${impact} ${id} at ${target.join(' ')}: ${help}. ${failureSummary}`),
  );
  expect(texts, page.url()).toEqual([]);
}
