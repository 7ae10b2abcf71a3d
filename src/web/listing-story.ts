import type { Snapshot } from '../station/snapshot.ts';
import { facts } from './figures.ts';
import { type Html, html } from './html.ts';
import { numberText } from './words.ts';

/** How the snapshot came about, and whether it is proven whole. */
export function listingStory(snapshot: Snapshot): Html {
  const { size, complete, doubts, reportedTotal, pages, duplicates, rejected, invalidFields } = snapshot;
  const invalid = Object.entries(invalidFields).filter(([, count]) => count > 0);
  const fields = invalid.map(([field, count]) => html`<li><code>${field}</code>: ${numberText(count)}</li>`);
  return facts('story', [
    ['Complete', complete ? 'yes: proven whole' : html`<span class="no">not proven</span>`],
    ['Why not', doubts.length === 0 ? undefined : html`<ul>${doubts.map((doubt) => html`<li>${doubt}</li>`)}</ul>`],
    ['Different resources', numberText(size)],
    ['Total reported', reportedTotal === undefined ? 'none: the service gave no total' : numberText(reportedTotal)],
    ['Pages', `${numberText(pages)}, all listings together`],
    ['Duplicates', `${numberText(duplicates)} records came again under an id already taken`],
    ['Rejected', `${numberText(rejected)} records had no usable id`],
    ['Invalid fields', invalid.length === 0 ? 'none' : html`<ul>${fields}</ul>`],
  ]);
}
