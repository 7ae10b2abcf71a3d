import { quoted } from './problem.ts';

/** The share of a word's characters that may differ. */
const MAX_DIFFERENCE = 0.4;

/** The first of the known words most similar to `word`, if one is similar enough to suggest. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const maxDistance = word.length * MAX_DIFFERENCE;
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(candidate.length - word.length) > maxDistance) continue;
    const distance = editDistance(word, candidate);
    if (distance <= maxDistance && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { candidate, distance };
  }
  return best?.candidate;
}

/** The suffix of a message about an unknown word. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? '' : `; did you mean ${quoted(near)}?`;
}

/** The optimal string alignment distance: insertions, deletions, substitutions and transpositions. */
function editDistance(from: string, to: string): number {
  let before: readonly number[] = [];
  let above: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const row = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = at(above, column - 1) + (from[line - 1] === to[column - 1] ? 0 : 1);
      const isSwap = from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1];
      const swapped = isSwap ? at(before, column - 2) + 1 : replaced;
      row.push(Math.min(replaced, swapped, at(above, column) + 1, at(row, column - 1) + 1));
    }
    before = above;
    above = row;
  }
  return at(above, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] as number;
}
