import { defineConfig } from 'vitest/config';

/** Real servers and child processes need more than the default of five seconds on a busy machine. */
const patient = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    // The tests share no module state, so a worker keeps the modules it has loaded. Many wait for sockets: one worker per core.
    isolate: false,
    maxWorkers: '100%',
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/prometheus/live/**', 'test/terminal/**', 'test/browser/**'],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      // Needs Prometheus and Alertmanager.
      { extends: true, test: { name: 'prometheus', include: ['test/prometheus/live/**/*.test.ts'], ...patient } },
      // Needs `script` of util-linux.
      { extends: true, test: { name: 'terminal', include: ['test/terminal/**/*.test.ts'], ...patient } },
      // Needs Chromium, which all its tests share.
      {
        extends: true,
        test: { name: 'browser', include: ['test/browser/**/*.test.ts'], globalSetup: ['test/browser/browser.ts'], ...patient },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // The browser script runs in the browser tests alone.
      exclude: ['src/main.ts', 'src/web/pages/browser/**'],
      reporter: ['text-summary', 'json-summary', 'html'],
      thresholds: { lines: 99, branches: 98 },
    },
  },
});
