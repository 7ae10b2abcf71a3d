import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { chromiumExecutable } from './executable.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser is that all tests share. */
    readonly browserEndpoint: string;
    /** Whether the tests run with --update. */
    readonly isUpdating: boolean;
  }
}

/** Starts the one browser before the tests and ends it after them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await chromium.launchServer({
    executablePath: chromiumExecutable(process.env),
    // Chromium refuses to run as root inside its sandbox.
    chromiumSandbox: process.getuid?.() !== 0,
  });
  project.provide('browserEndpoint', server.wsEndpoint());
  project.provide('isUpdating', project.config.snapshotOptions.updateSnapshot === 'all');
  return () => server.close();
}
