import { defineConfig } from 'vitest/config';

/** Tests that need the command `script` of util-linux on the machine. */
export default defineConfig({ test: { include: ['test/terminal/**/*.test.ts'], testTimeout: 60_000 } });
