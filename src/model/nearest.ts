/** The share of a word's characters that may differ. */
const MAX_DIFFERENCE = 0.4;

/** The first of the known words most similar to `word`, if one is similar enough to suggest. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let maxDistance = word.length * MAX_DIFFERENCE;
  for (const candidate of known) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(candidate.length - word.length) > maxDistance) continue;
    const distance = editDistance(word, candidate);
    if (distance > maxDistance || (distance === maxDistance && best !== undefined)) continue;
    best = candidate;
    maxDistance = distance;
  }
  return best;
}

/** The optimal string alignment distance: insertions, deletions, substitutions and transpositions. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (line: number, column: number) => (rows[line] as number[])[column] as number;
  for (let line = 1; line <= from.length; line += 1) {
    rows[line] = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = at(line - 1, column - 1) + (from[line - 1] === to[column - 1] ? 0 : 1);
      const isSwap = from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1];
      const swapped = isSwap ? at(line - 2, column - 2) + 1 : replaced;
      rows[line]?.push(Math.min(replaced, swapped, at(line - 1, column) + 1, at(line, column - 1) + 1));
    }
  }
  return at(from.length, to.length);
}
