import { type ResourceQuery, resourceSearch } from '../../inventory/resource-query.ts';
import { shortTypes } from '../../inventory/resource-words.ts';
import type { SearchResult } from '../../inventory/search.ts';
import { countText, numberText } from '../../inventory/words.ts';
import { labelNames, searchQueryOf } from '../data.ts';
import type { ExporterPort } from '../port.ts';
import type { AbortableHandler } from '../request-limit.ts';
import { ROUTES } from '../routes.ts';
import { type Html, html } from './html.ts';
import { EXPORTER, type PageOptions, sendPage } from './layout.ts';
import { resourceColumns, resourcePageTable } from './resource-list.ts';
import { stationLink } from './station-parts.ts';
import { downloads, pageRange } from './table.ts';

/** Stations without data that are named. */
const MAX_NAMED = 20;

/** The resources of all stations that contain a text or have a value. The form is in the header of every page. */
export function searchPage(exporter: ExporterPort, options: PageOptions): AbortableHandler {
  const { now = Date.now } = options;
  return async (request, response, signal) => {
    const query = searchQueryOf(exporter, request);
    const { selection, order } = query;
    const search = selection.search ?? '';
    const content =
      Object.keys(selection).length === 0
        ? EMPTY
        : searchContent(query, await exporter.search(selection, order, signal), now(), labelNames(exporter));
    sendPage(
      response,
      200,
      { title: `${search || 'Search'} · ${EXPORTER}`, root: './', content, route: ROUTES.search, search },
      options,
    );
  };
}

const EMPTY = html`<h1>Search</h1>
<p>Enter a part of the ID, the name or the display name of a resource. All stations of this shard are searched.</p>`;

function searchContent(
  query: ResourceQuery,
  { found, withoutData }: SearchResult,
  nowMs: number,
  labels: readonly string[],
): Html {
  const range = pageRange(found.length, query.page);
  const rows = found.slice(range.from, range.to);
  const typeNames = shortTypes(rows.map(({ resource }) => resource.type));
  const href = (other: ResourceQuery) => resourceSearch(other, 'q');
  const page = {
    rows,
    range,
    query,
    columns: resourceColumns(undefined, { root: './', typeNames, nowMs, labels }),
    href,
  };
  const stations = new Set(found.map(({ station }) => station)).size;
  return html`<h1>Search</h1>
<p id="result">${found.length === 0 ? 'No resource matches' : `${countText(found.length, 'resource')} of ${countText(stations, 'station')} ${found.length === 1 ? 'matches' : 'match'}`}: ${selectionText(query)}.</p>
${notSearched(withoutData)}
${found.length === 0 ? [] : resourcePageTable('Resources found', page, downloads(`${href({ ...query, page: 1 })}&format=`))}`;
}

/** What was searched for: `“web” in ID, name or display name, state firing`. */
function selectionText({ selection: { search, ...values } }: ResourceQuery): string {
  const text = search === undefined ? [] : [`“${search}” in ID, name or display name`];
  const parameters = new URLSearchParams(resourceSearch({ selection: values, order: undefined, page: 1 }));
  return [...text, ...Array.from(parameters, ([name, value]) => `${name.replace('_', ' ')} ${value}`)].join(', ');
}

/** An empty result means little while stations have no data. */
function notSearched(names: readonly string[]): readonly Html[] {
  if (names.length === 0) return [];
  const links = names.slice(0, MAX_NAMED).map((name, at) => html`${at === 0 ? '' : ', '}${stationLink(name)}`);
  const more = names.length > MAX_NAMED ? html` and ${numberText(names.length - MAX_NAMED)} more` : [];
  return [html`<p id="not-searched" class="failure-note">Not searched because they have no data: ${links}${more}.</p>`];
}
