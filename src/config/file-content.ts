import { readFile } from 'node:fs/promises';

/** A text, or the reason why it cannot be read. */
export type FileContent =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: NodeJS.ErrnoException };

/** The content of a file or pipe, for callers that report the error. */
export async function contentOf(file: string): Promise<FileContent> {
  try {
    return { ok: true, text: await readFile(file, 'utf8') };
  } catch (error) {
    return { ok: false, error: error as NodeJS.ErrnoException };
  }
}
