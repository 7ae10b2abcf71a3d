import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Simulated hours of a fleet: a virtual clock, but minutes of CPU time. */
const SIMULATED_HOURS = ['test/service/admission/{overload,throttling}.test.ts'];

export default defineConfig({
  test: {
    // The tests share no module state, so a worker keeps the modules it has loaded. Many wait for sockets: more workers than cores.
    isolate: false,
    maxWorkers: 2 * availableParallelism(),
    restoreMocks: true,
    // A limit ends a test that hangs; it must not end one on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A test without an assertion cannot fail.
    expect: { poll: { timeout: 60_000, interval: 10 }, requireAssertions: true },
    setupFiles: ['test/setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...SIMULATED_HOURS,
            'test/prometheus/live/**',
            'test/grafana/display/**',
            'test/system/**',
            'test/terminal/**',
            'test/browser/**',
            'test/cluster/**',
            'test/real/**',
          ],
        },
      },
      // Real load, chaos, builds: takes minutes, and the cores for itself.
      {
        extends: true,
        test: { name: 'system', include: ['test/system/**/*.test.ts'], testTimeout: 600_000 },
      },
      { extends: true, test: { name: 'simulation', include: SIMULATED_HOURS, testTimeout: 600_000 } },
      // Needs Prometheus and Alertmanager, which share the cores with the tests.
      {
        extends: true,
        test: {
          name: 'prometheus',
          include: ['test/prometheus/live/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 300_000, interval: 250 }, requireAssertions: true },
        },
      },
      // Needs nginx, HAProxy, squid, Varnish and Envoy. What is missing is printed, or with CI an error.
      { extends: true, test: { name: 'real', include: ['test/real/**/*.test.ts'], testTimeout: 600_000 } },
      // Needs the cluster that scripts/check-cluster.sh starts.
      {
        extends: true,
        test: { name: 'cluster', include: ['test/cluster/*.test.ts'], testTimeout: 600_000, hookTimeout: 600_000 },
      },
      // With the display code of each version of Grafana; needs the package of its folder.
      ...['grafana-12', 'grafana-13'].map((folder) => ({
        extends: true as const,
        test: {
          name: `dashboards-${folder}`,
          include: ['test/grafana/display/*.test.ts'],
          env: { GRAFANA_FOLDER: folder },
        },
      })),
      // Needs `script` of bsdutils.
      { extends: true, test: { name: 'terminal', include: ['test/terminal/**/*.test.ts'] } },
      // Needs Chromium, which all its tests share.
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/browser.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'lab/{main,simulator/*}.ts'],
      // The browser script runs in the browser tests alone.
      exclude: ['src/main.ts', 'src/web/pages/browser/**'],
      reporter: ['text-summary', 'json-summary', 'html'],
      thresholds: { lines: 99, branches: 98 },
    },
  },
});
