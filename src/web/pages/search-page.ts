import { NONE, type ResourceQuery, resourceSearch } from '../../query/parameters.ts';
import { type SearchResult, unknownCoverageIn } from '../../query/selection.ts';
import { ALERT_STATES } from '../../resources/alert-state.ts';
import type { OwnerCount } from '../../status/owners.ts';
import { NO_STATE } from '../../status/resource-words.ts';
import { type StationStatus, stateOf } from '../../status/station-status.ts';
import {
  allUnknownStates,
  type UnknownState,
  unknownStatesAdvice,
  unknownStatesCount,
  unknownStatesText,
} from '../../status/unknown-states.ts';
import { countText, numberText } from '../../text/words.ts';
import { labelNames, resourceQueryOf } from '../data.ts';
import type { ExporterPort } from '../port.ts';
import { ROUTES } from '../routes.ts';
import { adviceText } from './attention.ts';
import { type Html, html, itemList } from './html.ts';
import { type PageHandler, sendPage } from './layout.ts';
import {
  labelHeading,
  resourcePageColumns,
  resourcePageTable,
  shownResources,
  unknownCoverageNote,
} from './resource-list.ts';
import { completeness, lastSuccess, stateBadge, stateNote, stationLink } from './station-parts.ts';
import { downloads, searchField, selectBox, withoutRulesBox } from './table.ts';

const MAX_LISTED_STATIONS = 20;

/** The resources of all stations that contain a text or have a value. The form is in the header of every page. */
export const searchPage: PageHandler = (exporter, options) => async (request, response, signal) => {
  const query = resourceQueryOf(exporter, request);
  const { selection, sort } = query;
  const { search = '' } = selection;
  const show = (content: Html) =>
    sendPage(response, { title: search || 'Resources', root: './', content, route: ROUTES.search }, options);
  const form = searchForm(query, exporter, await exporter.owners());
  if (Object.keys(selection).length === 0) return show(emptyPage(exporter, form));
  const result = await exporter.search(selection, sort, signal);
  const { found, withoutData } = result;
  const nowMs = options.now();
  const ofUnknown = unknownCoverageIn(selection);
  const unknownCoverage = ofUnknown ? (await exporter.search(ofUnknown, '', signal)).found.total : 0;
  const shown = await shownResources(found, query);
  const types = shown.rows.map(({ resource }) => resource.type);
  const columns = resourcePageColumns(undefined, { root: './', types, nowMs, labels: labelNames(exporter) });
  const stations = exporter.stations();
  const isSearched = ({ name }: StationStatus) => selection.station === undefined || selection.station === name;
  const outdated = stations.filter((station) => isSearched(station) && isOldOrIncomplete(station));
  const stateOfData = (station: StationStatus) => {
    const note = stateNote(station);
    const words = note === '' ? '' : `${note}, `;
    return html`${stationLink(station.name)} (${stateBadge(station, nowMs)}, ${words}${lastSuccess(station, nowMs)})`;
  };
  // A resource in a state of unknown meaning may be one of those searched for.
  const isByMeaning = selection.alert_state !== undefined && selection.alert_state !== 'unknown';
  const unknownStates = allUnknownStates(stations.map(({ snapshot }) => snapshot?.unknownStates ?? []));
  const links = downloads('', resourceSearch({ ...query, page: 1 }));
  show(html`<h1>Resources</h1>
${form}
<p id="result">${resultText(result)}: ${selectionText(query)}.</p>
${named('not-searched', 'Not searched because they have no data', withoutData, (name) => stationLink(name))}
${named('outdated', 'Old or incomplete data', outdated, stateOfData)}
${isByMeaning ? unknownStatesNote(unknownStates) : []}${unknownCoverageNote(unknownCoverage)}
${found.total === 0 ? [] : resourcePageTable('Resources found', shown, { query, columns, href: resourceSearch }, links)}`);
};

function resultText({ found: { total }, foundStations }: SearchResult): string {
  if (total === 0) return 'No resource matches';
  const verb = total === 1 ? 'matches' : 'match';
  return `${countText(total, 'resource')} of ${countText(foundStations, 'station')} ${verb}`;
}

function emptyPage({ isSharded }: ExporterPort, form: Html): Html {
  return html`<h1>Resources</h1>
<p>Enter a part of the ID, the name or the display name of a resource. All stations${isSharded ? ' of this shard' : ''} are searched.</p>
${form}`;
}

/** Filters by a GET request; other values of the query are kept. */
function searchForm({ selection, sort }: ResourceQuery, exporter: ExporterPort, owners: readonly OwnerCount[]): Html {
  const { search, alert_state: alertState, without_rules: withoutRules, ...values } = selection;
  const specs = exporter.specs();
  const labels = [...new Set(owners.map(({ label }) => label))];
  const chosen = (name: string) => (values[name] === '' ? NONE : values[name]);
  const selects = labels.map((label) => {
    const known = owners.filter((count) => count.label === label);
    const options = known.map(
      ({ value, resources }) => [value || NONE, `${value || NONE} (${numberText(resources)})`] as const,
    );
    return html`\n${selectBox(label, labelHeading(label), options, chosen(label))}`;
  });
  const stations = specs.map(({ name }) => name);
  const products = [...new Set(specs.flatMap((spec) => spec.products))];
  const filters = ['station', 'type', 'product', ...labels];
  const others = Object.entries({ ...values, ...(sort && { sort }) }).filter(([name]) => !filters.includes(name));
  const hidden = others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value || NONE}">`);
  return html`<form id="narrow" class="controls" role="search" aria-label="Resources of all stations" method="get">
${searchField(search)}
${selectBox('station', 'Station', stations, values['station'])}
<label for="filter-type">Type <input id="filter-type" name="type" type="search" value="${values['type'] ?? ''}" placeholder="any" autocomplete="off" spellcheck="false"></label>
${products.length === 0 ? [] : selectBox('product', 'Product', products, chosen('product'))}
${selectBox('alert_state', 'Alert state', ALERT_STATES, alertState)}${selects}
${withoutRulesBox(withoutRules)}${hidden}
<button type="submit">Search</button>
</form>`;
}

/** What was searched for: `“web” in ID, name or display name, state firing`. */
function selectionText({ selection: { search, ...values } }: ResourceQuery): string {
  const text = search === undefined ? [] : [`“${search}” in ID, name or display name`];
  const others = Object.entries(values).map(([name, value]) =>
    name === 'state' && value === '' ? NO_STATE : `${name.replace('_', ' ')} ${value || NONE}`,
  );
  return [...text, ...others].join(', ');
}

/** Which states have no known meaning, and what to do about it; empty without any. */
function unknownStatesNote(states: readonly UnknownState[]): Html {
  if (states.length === 0) return html``;
  return html`<div class="failure-note unclear" id="unknown-states"><p>${unknownStatesCount(states)}: ${unknownStatesText(states)}. They count neither as firing nor as inactive.</p>
${adviceText(unknownStatesAdvice(states))}</div>`;
}

/** Whether the result may be wrong about the station, because its data is old or incomplete. */
function isOldOrIncomplete(station: StationStatus): boolean {
  const { snapshot, isBeforeReload } = station;
  return snapshot !== undefined && (stateOf(station) !== 'up' || completeness(station) !== '' || isBeforeReload);
}

/** An empty result means little while stations have no data. */
function named<Row>(id: string, words: string, rows: readonly Row[], item: (row: Row) => Html): readonly Html[] {
  if (rows.length === 0) return [];
  return [
    html`<p id="${id}" class="failure-note warning">${words}: ${itemList(rows.map(item), MAX_LISTED_STATIONS)}.</p>`,
  ];
}
