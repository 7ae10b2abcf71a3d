import { inspect } from 'node:util';

/** What stands for a secret wherever one could be read. */
export const HIDDEN = '<secret>';

/** A text that no log line, template, JSON or inspection shows; only `reveal` gives it away. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
