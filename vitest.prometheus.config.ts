import { defineConfig } from 'vitest/config';

/** Tests that need Debian's prometheus on the machine. */
export default defineConfig({
  test: { include: ['test/prometheus/live/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
