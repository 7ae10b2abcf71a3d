/** The share of a word's characters that may differ. */
const MAX_DIFFERENCE = 0.4;

/** Longer words are no names that anyone typed, and would take long to compare. */
const MAX_COMPARED_LENGTH = 64;

/** Of more, such as the stations of a large fleet, none is suggested: comparing them would take long. */
const MAX_COMPARED_WORDS = 200;

/** The first of the known words most similar to `word`, if one is similar enough to suggest. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_COMPARED_LENGTH || known.length > MAX_COMPARED_WORDS) return undefined;
  let best: string | undefined;
  let maxDistance = Math.floor(word.length * MAX_DIFFERENCE);
  for (const candidate of known) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(candidate.length - word.length) > maxDistance) continue;
    const distance = editDistance(word, candidate);
    if (distance > maxDistance) continue;
    best = candidate;
    // Of equally similar words, the first is suggested.
    maxDistance = distance - 1;
  }
  return best;
}

/** The optimal string alignment distance: insertions, deletions, substitutions and transpositions of adjacent characters. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const row = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[line - 1] === to[column - 1];
      const isSwapped = from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1];
      row[column] = Math.min(
        cell(last, column) + 1,
        cell(row, column - 1) + 1,
        cell(last, column - 1) + (isSame ? 0 : 1),
        isSwapped ? cell(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = row;
  }
  return cell(last, to.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
