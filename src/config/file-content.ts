import { readFile } from 'node:fs/promises';
import { utf8Text } from '../text/utf8.ts';

export type FileContent =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: NodeJS.ErrnoException };

export async function contentOf(file: string): Promise<FileContent> {
  try {
    return { ok: true, text: utf8Text(await readFile(file)) };
  } catch (error) {
    return { ok: false, error: error as NodeJS.ErrnoException };
  }
}
