import { readFile } from 'node:fs/promises';
import type { Clock } from '../../model/clock.ts';
import type { Secret } from '../../schema/secret.ts';
import { utf8Text } from '../../text/utf8.ts';
import { RequestFailure } from '../request-failure.ts';

/** A secret's text, or the file that contains it. */
export type SecretSource = { readonly text: string } | { readonly file: string };

/** The schema guarantees that exactly one of the two is set. */
export function secretSource(text: Secret | undefined, file: string | undefined): SecretSource {
  return text === undefined ? { file: file as string } : { text: text.reveal() };
}

const RECHECK_MS = 1000;

/** A secret from the configuration or from a file; the file is read at most once a second. */
export class Credential {
  readonly #source: SecretSource;
  readonly #elapsedMs: () => number;
  #latest: { readonly atMs: number; readonly text: Promise<string> } | undefined;

  constructor(source: SecretSource, { elapsedMs }: Pick<Clock, 'elapsedMs'>) {
    this.#source = source;
    this.#elapsedMs = elapsedMs;
  }

  /** Makes the next `read` read the file again. */
  invalidate(): void {
    this.#latest = undefined;
  }

  async read(): Promise<string> {
    if ('text' in this.#source) return this.#source.text;
    const nowMs = this.#elapsedMs();
    if (this.#latest === undefined || nowMs - this.#latest.atMs >= RECHECK_MS) {
      this.#latest = { atMs: nowMs, text: readSecret(this.#source.file) };
    }
    return this.#latest.text;
  }
}

async function readSecret(file: string): Promise<string> {
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
