import { NONE, type ResourceQuery, resourceSearch } from '../../inventory/parameters.ts';
import { NO_STATE } from '../../inventory/resource-words.ts';
import { dataProblems, type StationStatus, stateOf } from '../../inventory/station-status.ts';
import { allUnknownStates } from '../../inventory/unknown-states.ts';
import { countText, numberText } from '../../inventory/words.ts';
import { labelNames, resourceQueryOf } from '../data.ts';
import type { ExporterPort } from '../port.ts';
import { ROUTES } from '../routes.ts';
import { type Html, html } from './html.ts';
import { type PageHandler, sendPage } from './layout.ts';
import { resourcePageColumns, resourcePageTable } from './resource-list.ts';
import { lastSuccess, stateBadge, stationLink, unknownStatesNote } from './station-parts.ts';
import { downloads, listPage } from './table.ts';

/** Stations that are named. */
const MAX_LISTED_STATIONS = 20;

/** The resources of all stations that contain a text or have a value. The form is in the header of every page. */
export const searchPage: PageHandler = (exporter, options) => async (request, response, signal) => {
  const query = resourceQueryOf(exporter, request);
  const { selection, order } = query;
  const { search = '' } = selection;
  const show = (content: Html) =>
    sendPage(response, { title: search || 'Search', root: './', content, route: ROUTES.search, search }, options);
  if (Object.keys(selection).length === 0) return show(emptyPage(exporter));
  const { found, withoutData } = await exporter.search(selection, order, signal);
  const nowMs = options.now();
  const page = listPage(found, query.page);
  const types = page.rows.map(({ resource }) => resource.type);
  const href = (other: ResourceQuery) => resourceSearch(other, 'q');
  const columns = resourcePageColumns(undefined, { root: './', types, nowMs, labels: labelNames(exporter) });
  const stations = new Set(found.map(({ station }) => station)).size;
  const doubtful = exporter.stations().filter(isDoubtful);
  const stateOfData = (station: StationStatus) =>
    html`${stationLink(station.name)} (${stateBadge(station)}, ${lastSuccess(station, nowMs)})`;
  show(html`<h1>Search</h1>
<p id="result">${found.length === 0 ? 'No resource matches' : `${countText(found.length, 'resource')} of ${countText(stations, 'station')} ${found.length === 1 ? 'matches' : 'match'}`}: ${selectionText(query)}.</p>
${named('not-searched', 'Not searched because they have no data', withoutData, (name) => stationLink(name))}
${named('doubtful', 'Old or incomplete data', doubtful, stateOfData)}
${isByMeaning(selection) ? unknownStatesNote(allUnknownStates(exporter.stations().map(({ snapshot }) => snapshot?.unknownStates ?? []))) : []}
${found.length === 0 ? [] : resourcePageTable('Resources found', { page, query, columns, href }, downloads(`${href({ ...query, page: 1 })}&format=`))}`);
};

function emptyPage({ isSharded }: ExporterPort): Html {
  return html`<h1>Search</h1>
<p>Enter a part of the ID, the name or the display name of a resource. All stations${isSharded ? ' of this shard' : ''} are searched.</p>`;
}

/** What was searched for: `“web” in ID, name or display name, state firing`. */
function selectionText({ selection: { search, ...values } }: ResourceQuery): string {
  const text = search === undefined ? [] : [`“${search}” in ID, name or display name`];
  const others = Object.entries(values).map(([name, value]) =>
    name === 'state' && value === '' ? NO_STATE : `${name.replace('_', ' ')} ${value || NONE}`,
  );
  return [...text, ...others].join(', ');
}

/** A resource in a state of unknown meaning may be one of those searched for. */
function isByMeaning({ alert_state: alertState = 'unknown' }: ResourceQuery['selection']): boolean {
  return alertState !== 'unknown';
}

/** Whether the result may be wrong about the station. */
function isDoubtful(station: StationStatus): boolean {
  return station.snapshot !== undefined && (stateOf(station) !== 'up' || dataProblems(station).length > 0);
}

/** An empty result means little while stations have no data. */
function named<Row>(id: string, words: string, rows: readonly Row[], item: (row: Row) => Html): readonly Html[] {
  if (rows.length === 0) return [];
  const items = rows.slice(0, MAX_LISTED_STATIONS).map((row, at) => html`${at === 0 ? '' : ', '}${item(row)}`);
  const more =
    rows.length > MAX_LISTED_STATIONS ? html` and ${numberText(rows.length - MAX_LISTED_STATIONS)} more` : [];
  return [html`<p id="${id}" class="failure-note">${words}: ${items}${more}.</p>`];
}
