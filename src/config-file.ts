import { readFile } from 'node:fs/promises';
import { type LoadResult, loadConfig } from './config/load.ts';

/** Loads the file as it is now; one that cannot be read is a problem like any other. */
export async function loadConfigFile(file: string, env: Readonly<Record<string, string | undefined>>): Promise<LoadResult> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const message = `cannot be read, expected a readable file: ${(error as Error).message}`;
    return { ok: false, problems: [{ file, line: 1, column: 1, path: '', message }] };
  }
  return loadConfig({ file, text, env });
}
