/** The share of a word's characters that may differ. */
const MAX_DIFFERENCE = 0.4;

/** Longer words are no names that anyone typed. */
const MAX_COMPARED_LENGTH = 128;

/** Comparisons of two characters for one suggestion: enough for thousands of names, and a few milliseconds at most. */
const MAX_COMPARISONS = 200_000;

/** The first of the known words most similar to `word`, if one is similar enough to suggest; none when finding it would take too many comparisons. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_COMPARED_LENGTH) return undefined;
  let best: string | undefined;
  let maxDistance = Math.floor(word.length * MAX_DIFFERENCE);
  let comparisons = 0;
  for (const candidate of known) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(candidate.length - word.length) > maxDistance) continue;
    const [from, to] = withoutCommonEnds(word, candidate);
    const compared = editDistance(from, to, maxDistance);
    comparisons += candidate.length + compared.cells;
    if (comparisons > MAX_COMPARISONS) return undefined;
    if (compared.distance > maxDistance) continue;
    best = candidate;
    // Of equally similar words, the first is suggested.
    maxDistance = compared.distance - 1;
  }
  return best;
}

/** What is left of two words without their common beginning and end, which do not change their distance. */
function withoutCommonEnds(one: string, other: string): readonly [string, string] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start += 1;
  let end = 0;
  while (end < shorter - start && one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end))
    end += 1;
  return [one.slice(start, one.length - end), other.slice(start, other.length - end)];
}

/**
 * The optimal string alignment distance: insertions, deletions, substitutions and transpositions. Cells further than `max` from the
 * diagonal are not compared, because every way through them is longer; `max + 1` when the distance is above it.
 */
function editDistance(from: string, to: string, max: number): { readonly distance: number; readonly cells: number } {
  const far = max + 1;
  let cells = 0;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const row = new Array<number>(to.length + 1).fill(far);
    row[0] = line;
    const end = Math.min(to.length, line + max);
    let least = line;
    for (let column = Math.max(1, line - max); column <= end; column += 1) {
      const isSame = from.charCodeAt(line - 1) === to.charCodeAt(column - 1);
      const replaced = cell(last, column - 1) + (isSame ? 0 : 1);
      const distance = Math.min(replaced, cell(last, column) + 1, cell(row, column - 1) + 1);
      const isSwap = !isSame && isTransposed(from, line, to, column);
      row[column] = isSwap ? Math.min(distance, cell(beforeLast, column - 2) + 1) : distance;
      least = Math.min(least, cell(row, column));
    }
    cells += row.length;
    // Every further line is at least as far.
    if (least > max) return { distance: far, cells };
    beforeLast = last;
    last = row;
  }
  return { distance: cell(last, to.length), cells };
}

function cell(row: readonly number[], column: number): number {
  return row[column] as number;
}

/** Whether the two characters before these positions are the same in the other order. */
function isTransposed(from: string, line: number, to: string, column: number): boolean {
  if (line < 2 || column < 2) return false;
  return (
    from.charCodeAt(line - 1) === to.charCodeAt(column - 2) && from.charCodeAt(line - 2) === to.charCodeAt(column - 1)
  );
}
