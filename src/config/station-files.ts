import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { contentOf, type FileContent } from './file-content.ts';

/** A file that patterns of `station_files` name, or the reason why it cannot be read. */
export interface StationFile {
  readonly patterns: readonly number[];
  readonly file: string;
  readonly content: FileContent;
}

/** Reads the files that the patterns match, each once, in the order of the patterns and then of their names. */
export async function readStationFiles(patterns: readonly string[]): Promise<readonly StationFile[]> {
  const files = new Map<string, StationFile>();
  for (const [pattern, path] of patterns.entries()) {
    for await (const { file, content } of filesOf(path)) {
      const earlier = files.get(file)?.patterns ?? [];
      files.set(file, { patterns: [...earlier, pattern], file, content });
    }
  }
  return [...files.values()];
}

export function isPattern(path: string): boolean {
  return path.includes('*');
}

/** A folder that cannot be listed is an error, not empty: a volume that is not mounted must not remove all its stations. */
async function* filesOf(path: string): AsyncIterable<Omit<StationFile, 'patterns'>> {
  if (!isPattern(path)) return yield { file: path, content: await contentOf(path) };
  const folder = dirname(path);
  // The schema rejects it.
  if (isPattern(folder)) return;
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => error);
  if (names instanceof Error) return yield { file: folder, content: { ok: false, error: names } };
  const pattern = patternOf(basename(path));
  for (const entry of names.filter((name) => pattern.test(name)).sort()) {
    const file = join(folder, entry);
    const content = await contentOf(file);
    if (content.ok || content.error.code !== 'EISDIR') yield { file, content };
  }
}

/** As in a shell, a hidden file is matched by a dot only. */
function patternOf(glob: string): RegExp {
  const literals = glob.split('*').map((literal) => literal.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${glob.startsWith('.') ? '' : '(?!\\.)'}${literals.join('.*')}$`, 's');
}
