import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A file that a pattern of `station_files` names, or the reason why it cannot be read. */
export interface StationFile {
  /** Index of the pattern. */
  readonly pattern: number;
  /** Shown in problems. */
  readonly file: string;
  readonly content: { readonly text: string } | { readonly error: Error };
}

/** Reads the files that the patterns match, each once, in the order of the patterns and then of their names. */
export async function readStationFiles(patterns: readonly string[]): Promise<readonly StationFile[]> {
  const files = new Map<string, StationFile>();
  for (const [pattern, path] of patterns.entries()) {
    try {
      for (const file of await matches(path)) if (!files.has(file)) files.set(file, { pattern, file, content: await stationsOf(file) });
    } catch (error) {
      files.set(path, { pattern, file: path, content: { error: error as Error } });
    }
  }
  return [...files.values()];
}

export function isPattern(path: string): boolean {
  return path.includes('*');
}

/** The files that the pattern matches; the path itself when it is not a pattern. A folder that does not exist has no files. */
async function matches(path: string): Promise<readonly string[]> {
  if (!isPattern(path)) return [path];
  const name = basename(path);
  const literals = name.split('*').map((literal) => literal.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const matching = new RegExp(`^${literals.join('.*')}$`, 's');
  const entries = await readdir(dirname(path), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries
    .filter((entry) => !entry.isDirectory() && matching.test(entry.name) && (name.startsWith('.') || !entry.name.startsWith('.')))
    .map((entry) => join(dirname(path), entry.name))
    .sort();
}

/** The content of a file that ends: opening a pipe would wait for a writer, and block every later reload. */
async function stationsOf(file: string): Promise<StationFile['content']> {
  const found = await stat(file).catch(() => undefined);
  const isEndless = found !== undefined && !found.isFile() && !found.isDirectory();
  return isEndless ? { error: new Error('not a regular file') } : contentOf(file);
}

export async function contentOf(file: string): Promise<StationFile['content']> {
  try {
    return { text: await readFile(file, 'utf8') };
  } catch (error) {
    return { error: error as Error };
  }
}
