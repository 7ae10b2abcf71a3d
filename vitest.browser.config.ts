import { defineConfig } from 'vitest/config';

/** Tests that look at the pages with a real Chromium, which they share. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/browser/browser.ts'],
    // The work is the browser's: the workers mostly wait for it.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
