import { createRequire } from 'node:module';
import type * as Re2 from 're2js';

const require = createRequire(import.meta.url);

/** A regular expression that matches whole texts, in time linear in their length. */
export class AnchoredRegExp {
  readonly source: string;
  /** Instructions of the compiled expression: a match takes at most this many steps per character. */
  readonly size: number;
  readonly #compiled: Re2.RE2JS;

  /** Throws the engine's error for an invalid expression. */
  constructor(source: string) {
    // Only where it is used: loading it takes as long as a tenth of the start of Node.
    const { RE2JS }: typeof Re2 = require('re2js');
    this.source = source;
    // As in Prometheus, a dot also matches line breaks.
    this.#compiled = RE2JS.compile(source, RE2JS.DOTALL);
    this.size = this.#compiled.programSize();
  }

  /**
   * testExact builds an automaton while it matches: fast for texts that have much in common, but a text that needs a new state for each
   * character takes three times as long as without one.
   */
  matches(text: string): boolean {
    return this.stepsFor(text) <= MAX_AUTOMATON_STEPS
      ? this.#compiled.testExact(text)
      : this.#compiled.matcher(text).matches();
  }

  /** Steps that a match may take. */
  stepsFor(text: string): number {
    return this.size * text.length;
  }
}

/** Steps of a match that builds the automaton, at most about 10 milliseconds: the largest expression on a text of 128 characters. */
export const MAX_AUTOMATON_STEPS = 128_000;
