import { inspect } from 'node:util';

export const HIDDEN = '<secret>';

/** A string that only `reveal` returns: logs, templates, JSON and `inspect` show a placeholder. */
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
