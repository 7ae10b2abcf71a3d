import type { Recording } from '../demo/recording.ts';

/** A recording as JSON, a page per line: a large one never is one text. */
export function* recordingPieces({ listings, ...recording }: Recording): Iterable<string> {
  yield `${JSON.stringify(recording).slice(0, -1)},"listings":[`;
  for (const [at, { filters, pages }] of listings.entries()) {
    yield `${at === 0 ? '' : ','}\n{"filters":${JSON.stringify(filters)},"pages":[`;
    for (const [index, page] of pages.entries()) yield `${index === 0 ? '' : ','}\n${JSON.stringify(page)}`;
    yield '\n]}';
  }
  yield '\n]}\n';
}
