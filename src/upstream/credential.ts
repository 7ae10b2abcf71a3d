import { readFile } from 'node:fs/promises';
import type { SecretSource } from './options.ts';
import { RequestFailure } from './request-failure.ts';

/** Configured headers and parameters may be no secrets at all: redacting shorter values would only garble messages. */
export const MIN_SECRET_LENGTH = 4;

const RECHECK_MS = 1000;

/** A secret from the configuration or from a file; the file is read at most once a second. */
export class Credential {
  readonly #source: SecretSource;
  readonly #now: () => number;
  #latest: { readonly atMs: number; readonly text: Promise<string> } | undefined;

  constructor(source: SecretSource, now: () => number) {
    this.#source = source;
    this.#now = now;
  }

  /** Whether reading again may return another value. */
  get renewable(): boolean {
    return 'file' in this.#source;
  }

  /** Makes the next `read` read the file again. */
  invalidate(): void {
    this.#latest = undefined;
  }

  async read(): Promise<string> {
    if ('text' in this.#source) return this.#source.text;
    const nowMs = this.#now();
    const ageMs = nowMs - (this.#latest?.atMs ?? Number.NEGATIVE_INFINITY);
    if (this.#latest === undefined || ageMs < 0 || ageMs >= RECHECK_MS) {
      this.#latest = { atMs: nowMs, text: readSecret(this.#source.file) };
    }
    return this.#latest.text;
  }
}

async function readSecret(file: string): Promise<string> {
  const content = await readFile(file, 'utf8').catch((error: Error) => {
    throw new RequestFailure('auth', `cannot read credential file ${file}: ${error.message}`, {}, { cause: error });
  });
  const text = content.trim();
  if (text === '') throw new RequestFailure('auth', `credential file ${file} is empty`);
  return text;
}
