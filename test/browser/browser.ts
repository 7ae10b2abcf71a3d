import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** WebSocket endpoint of the browser that all tests share. */
    readonly browserEndpoint: string;
    /** Whether the tests run with --update. */
    readonly isUpdating: boolean;
  }
}

/** Starts the browser before the tests and closes it after them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await chromium.launchServer({
    ...installedChromium(),
    // Browsers treat a host name other than localhost without TLS as less trustworthy.
    args: ['--host-resolver-rules=MAP exporter.test 127.0.0.1'],
    timeout: 120_000,
  });
  project.provide('browserEndpoint', server.wsEndpoint());
  project.provide('isUpdating', project.config.snapshotOptions.updateSnapshot === 'all');
  return () => server.close();
}

/** The options that launch the Chromium of this machine. */
export function installedChromium() {
  // Chromium refuses to run as root inside its sandbox.
  return { executablePath: chromiumExecutable(process.env), chromiumSandbox: process.getuid?.() !== 0 };
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The executable named by CHROMIUM, else the first one on PATH. */
function chromiumExecutable(env: Readonly<Record<string, string | undefined>>): string {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = env['CHROMIUM']
    ? [env['CHROMIUM']]
    : NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(
    env['CHROMIUM']
      ? `CHROMIUM: expected an executable, got ${env['CHROMIUM']}`
      : 'Chromium not found: install the Debian package chromium, or set CHROMIUM to the path of the executable',
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
