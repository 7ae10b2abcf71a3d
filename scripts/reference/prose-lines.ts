import { wrapped } from '../../src/cli/wrap.ts';

/** The lines of a generated paragraph, as wide as those of the pages that people write. */
export function proseLines(text: string): readonly string[] {
  return wrapped(text, 120);
}
