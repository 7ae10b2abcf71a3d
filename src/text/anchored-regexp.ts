import { createRequire } from 'node:module';
import type * as Re2 from 're2js';

const require = createRequire(import.meta.url);

/** A regular expression that matches whole texts, in time linear in their length. */
export class AnchoredRegExp {
  readonly source: string;
  readonly #compiled: Re2.RE2JS;

  constructor(source: string) {
    // Only where it is used: loading it takes as long as a tenth of the start of Node.
    const { RE2JS }: typeof Re2 = require('re2js');
    this.source = source;
    // As in Prometheus, a dot also matches line breaks.
    this.#compiled = RE2JS.compile(source, RE2JS.DOTALL);
  }

  matches(text: string): boolean {
    return this.#compiled.testExact(text);
  }
}
