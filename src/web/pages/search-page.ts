import { shortTypes } from '../../inventory/resource-words.ts';
import type { SearchResult, StationResource } from '../../inventory/search.ts';
import { countText, numberText } from '../../inventory/words.ts';
import { MAX_FOUND, NO_SEARCH, searchText } from '../data.ts';
import type { ExporterPort } from '../port.ts';
import type { AbortableHandler } from '../request-limit.ts';
import { sendError } from '../respond.ts';
import { ROUTES, resourcePath } from '../routes.ts';
import { type Html, html } from './html.ts';
import { EXPORTER, type PageOptions, sendPage } from './layout.ts';
import { alertStateBadge, typeName } from './resource-parts.ts';
import { stationLink } from './station-parts.ts';

/** Results on the page; the formats for programs have more. */
const MAX_SHOWN = 200;

/** Stations without data that are named. */
const MAX_NAMED = 20;

/** The resources of all stations that contain a text. The form is in the header of every page. */
export function searchPage(exporter: ExporterPort, options: PageOptions): AbortableHandler {
  return async (request, response, signal) => {
    const text = searchText(request);
    if (text === undefined) {
      sendError(response, 400, NO_SEARCH);
      return;
    }
    const content = text === '' ? EMPTY : searchContent(text, await exporter.search(text, MAX_SHOWN, signal));
    sendPage(
      response,
      200,
      { title: `${text || 'Search'} · ${EXPORTER}`, root: './', content, route: ROUTES.search, search: text },
      options,
    );
  };
}

const EMPTY = html`<h1>Search</h1>
<p>Enter a part of the ID, the name or the display name of a resource. All stations of this shard are searched.</p>`;

function searchContent(text: string, result: SearchResult): Html {
  const { found, total } = result;
  return html`<h1>Search</h1>
<p id="result">${resultText(text, result)}</p>
${notSearched(result.withoutData)}
${
  total === 0
    ? []
    : html`${resultTable(found)}
${downloads(text, total)}`
}`;
}

function resultText(text: string, { found, total, stations }: SearchResult): Html {
  const quoted = html`“${text}”`;
  if (total === 0) return html`No resource has ${quoted} in its ID, name or display name.`;
  const bound = total > found.length ? html` The first ${numberText(found.length)} are shown.` : html``;
  return html`${countText(total, 'resource')} of ${countText(stations, 'station')} ${total === 1 ? 'has' : 'have'} ${quoted} in ID, name or display name.${bound}`;
}

/** An empty result means little while stations have no data. */
function notSearched(names: readonly string[]): readonly Html[] {
  if (names.length === 0) return [];
  const links = names.slice(0, MAX_NAMED).map((name, at) => html`${at === 0 ? '' : ', '}${stationLink(name)}`);
  const more = names.length > MAX_NAMED ? html` and ${numberText(names.length - MAX_NAMED)} more` : [];
  return [html`<p id="not-searched" class="failure-note">Not searched because they have no data: ${links}${more}.</p>`];
}

function resultTable(found: readonly StationResource[]): Html {
  const names = shortTypes(found.map(({ resource }) => resource.type));
  const rows = found.map(({ station, resource }) => {
    const path = resourcePath(station, resource.id);
    const title = resource.displayName || resource.name || resource.id;
    return html`<tr>
<th scope="row">${path === undefined ? title : html`<a href="./${path}">${title}</a>`} <span class="sub code">${resource.id}</span></th>
<td data-label="Name"><span>${resource.name}</span></td>
<td data-label="Station"><span>${stationLink(station)}</span></td>
<td data-label="Type"><span>${typeName(resource.type, names)}</span></td>
<td data-label="State"><span>${alertStateBadge(resource.state)}</span></td>
</tr>
`;
  });
  return html`<table id="results" class="cards">
<caption class="hidden-text">Resources found</caption>
<thead><tr><th scope="col">Resource</th><th scope="col">Name</th><th scope="col">Station</th><th scope="col">Type</th><th scope="col">State</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

function downloads(text: string, total: number): Html {
  const link = (format: string) =>
    html`<a href="?${new URLSearchParams({ q: text, format }).toString()}">${format.toUpperCase()}</a>`;
  const scope = total > MAX_FOUND ? `The first ${numberText(MAX_FOUND)}` : `All ${numberText(total)}`;
  return html`<p id="downloads">${total === 1 ? 'This' : scope} as ${link('json')} or ${link('csv')}</p>`;
}
