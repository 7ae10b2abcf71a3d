import { readFile } from 'node:fs/promises';
import type { Secret } from '../../schema/secret.ts';
import { utf8Text } from '../../text/utf8.ts';
import { RequestFailure } from '../request-failure.ts';

/** A secret's text, or the file that contains it. */
export type SecretSource = { readonly text: string } | { readonly file: string };

/** The schema guarantees that exactly one of the two is set. */
export function secretSource(text: Secret | undefined, file: string | undefined): SecretSource {
  return text === undefined ? { file: file as string } : { text: text.reveal() };
}

/** The text of a secret. A file is read anew: it may have been replaced. */
export async function readSecret(source: SecretSource): Promise<string> {
  if ('text' in source) return source.text;
  const { file } = source;
  const content = await readFile(file)
    .then(utf8Text)
    .catch((cause: Error) => {
      throw new RequestFailure('auth', `cannot read credential file ${file}: ${cause.message}`, { cause });
    });
  const text = content.trim();
  if (text === '') throw new RequestFailure('auth', `credential file ${file} is empty`);
  const lines = text.split('\n').length;
  if (lines > 1) throw new RequestFailure('auth', `credential file ${file} has ${lines} lines, expected one`);
  return text;
}
