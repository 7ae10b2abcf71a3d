import { readFileSync } from 'node:fs';
import type { Build } from './metrics/own-metrics.ts';

/** Which build this is: the version of package.json beside the code, and the revision that a release writes there. */
export function readBuild(folder: URL, nodeVersion: string): Build {
  const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version: string };
  return { version, revision: readRevision(new URL('REVISION', folder)), nodeVersion };
}

function readRevision(file: URL): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
