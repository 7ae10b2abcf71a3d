import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Where Chromium is: what CHROMIUM names, or else the first that is found on PATH. */
export function chromiumExecutable(env: Readonly<Record<string, string | undefined>>): string {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const places = env['CHROMIUM'] ? [env['CHROMIUM']] : NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = places.find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(
    env['CHROMIUM']
      ? `CHROMIUM names ${env['CHROMIUM']}, which is no program that can be run.`
      : 'The tests in the browser need Chromium: install the Debian package chromium, or name the program in CHROMIUM.',
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
