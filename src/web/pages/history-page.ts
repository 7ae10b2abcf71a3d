import { firstMsOf, type HistoryEntry, type Outage } from '../../inventory/history.ts';
import { durationText, numberText } from '../../inventory/words.ts';
import { stationOf } from '../data.ts';
import { changesPath, stationPath } from '../routes.ts';
import { statusText } from './error-page.ts';
import { dayText, type Html, html, more, timeText, unknown } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import { stateBadge, stateNote, trail } from './station-parts.ts';
import { downloads, type PageColumn, table, tableRow } from './table.ts';
import { notableMs, numbersSection, type StationHistory, timelineFigure } from './timeline.ts';

/** Refreshes that the history page shows without opening the list. */
const SHOWN = 60;

/** Outages in the list without opening it. */
const SHOWN_OUTAGES = 5;

/** What happened to a station in the last hours: a timeline and the outages. */
export function historySection(station: StationHistory): Html {
  const { history, status, nowMs } = station;
  const outages = status.outages.map((outage) => html`<li>${outageText(outage, nowMs)}</li>\n`).reverse();
  const list = (some: readonly Html[]) => html`<ul class="outages">\n${some}</ul>\n`;
  const shown = html`<h3>Outages</h3>
${list(outages.slice(0, SHOWN_OUTAGES))}${more(outages.length - SHOWN_OUTAGES, list(outages.slice(SHOWN_OUTAGES)))}`;
  return html`<section id="history" aria-labelledby="history-title">
<h2 id="history-title">History</h2>
${history.length === 0 ? html`<p>No refresh has ended yet.</p>` : timelineFigure(station)}
${outages.length === 0 ? [] : shown}
</section>
`;
}

/** Refreshes on the page of the station. */
const LATEST = 5;

/** The latest refreshes, with a link to the others; empty without any. */
export function latestRefreshesSection({ history, status, nowMs }: StationHistory): Html {
  if (history.length === 0) return html``;
  return html`<section class="refreshes" aria-labelledby="refreshes-title">
<h2 id="refreshes-title">Recent refreshes <a href="../${stationPath(status.name, '/history')}">all refreshes</a></h2>
${refreshTable('refreshes', history.slice(0, LATEST), { station: status.name, root: '../', nowMs })}
</section>`;
}

const HISTORY_ROOT = '../../';

/** What happened to a station in the last day: its outages, its numbers, and its refreshes one by one. */
export const historyPage: PageHandler = (exporter, options) => (request, response) => {
  const { spec, history, status } = stationOf(exporter, request);
  const nowMs = options.now();
  const station = { history, status, nowMs };
  const content = html`${trail(HISTORY_ROOT, 'History', spec.name)}
<h1>History of ${spec.name}</h1>
<div class="headline">
<p id="state">${stateBadge(status, nowMs)} ${stateNote(status)}</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${historySection(station)}
${numbersSection(station)}
${refreshesSection(station)}`;
  sendPage(response, { title: `History · ${spec.name}`, root: HISTORY_ROOT, content, isLive: true }, options);
};

/** All refreshes that are kept, the latest first; empty without any. */
export function refreshesSection({ history, status, nowMs }: StationHistory): Html {
  if (history.length === 0) return html``;
  const context = { station: status.name, root: HISTORY_ROOT, nowMs };
  const further = history.slice(SHOWN);
  return html`<section class="refreshes" aria-labelledby="refreshes-title">
<h2 id="refreshes-title">Refreshes</h2>
<p class="quiet">The latest 60 one by one; the older ones of a day are summed up by six minutes.</p>
${refreshTable('refreshes', history.slice(0, SHOWN), context)}
${more(further.length, refreshTable('more-refreshes', further, context))}${downloads('?format=')}
</section>
`;
}

/** `02:35–02:45 UTC (10 min) 3 failed: timeout`; an outage that has ended has the same text for ever. */
function outageText({ fromMs, toMs, failed, reasons, statuses }: Outage, nowMs: number): Html {
  const causes = reasons.flatMap((reason) =>
    reason === 'status' && statuses.length > 0 ? statuses.map(statusText) : reason,
  );
  const end = toMs === undefined ? html` UTC–now` : html`–${dayText(toMs, fromMs)}${timeText(toMs)} UTC`;
  const length = durationText(Math.max((toMs ?? nowMs) - fromMs, 0));
  return html`${dayText(fromMs, nowMs)}${timeText(fromMs)}${end} <span class="quiet">(${length})</span> <span class="outcome failed">${numberText(failed)} failed: ${causes.join(', ')}</span>`;
}

interface RefreshContext {
  readonly station: string;
  /** Relative path from the page to the root. */
  readonly root: string;
  readonly nowMs: number;
}

function refreshTable(id: string, entries: readonly HistoryEntry[], context: RefreshContext): Html {
  const columns = refreshColumns(context);
  return table(
    { id, columns, caption: 'Refreshes' },
    entries.map((entry) => tableRow(columns, entry)),
  );
}

function refreshColumns({ station, root, nowMs }: RefreshContext): readonly PageColumn<HistoryEntry>[] {
  const numberColumn = (heading: string, cell: (entry: HistoryEntry) => Html | string | undefined) => ({
    heading,
    isNumber: true,
    cell: (entry: HistoryEntry) => cell(entry) ?? unknown('not known'),
  });
  return [
    {
      heading: 'Ended (UTC)',
      cell: ({ atMs }) => html`${dayText(atMs, nowMs)}${timeText(atMs, 'seconds')}`,
    },
    { heading: 'Outcome', cell: outcomeCell },
    numberColumn('Duration', durationCell),
    numberColumn('Pages', ({ pages }) => knownText(pages)),
    numberColumn('Resources', ({ resources }) => knownText(resources)),
    numberColumn('Firing', firingText),
    { heading: 'Changes', cell: (entry) => changesText(entry, station, root) },
  ];
}

function knownText(value: number | undefined): string | undefined {
  return value === undefined ? undefined : numberText(value);
}

function outcomeCell(entry: HistoryEntry): Html {
  const { outcome, failure } = entry;
  const said = failure ? html` <span class="sub said"><code>${failure.reason}</code>: ${failure.message}</span>` : [];
  return html`<span class="outcome ${outcome}">${outcomeText(entry)}</span>${said}`;
}

function durationCell({ durationMs, waitedMs }: HistoryEntry): Html | undefined {
  if (durationMs === undefined) return undefined;
  const waited = notableMs(waitedMs) > 0 ? html` <span class="sub">waited ${durationText(waitedMs)}</span>` : [];
  return html`${durationText(durationMs)}${waited}`;
}

/** Those in states of unknown meaning may be firing too. Of several refreshes it is their largest number. */
function firingText({ firing, unknown: unclear = 0, refreshes }: HistoryEntry): Html | string | undefined {
  if (firing === undefined || unclear === 0) return knownText(firing);
  const most = refreshes > 1 ? 'up to ' : '';
  return html`${numberText(firing)} <span class="sub no">${most}${numberText(unclear)} unknown</span>`;
}

function outcomeText({ outcome, refreshes, failed }: HistoryEntry): string {
  if (refreshes === 1) return outcome;
  return outcome === 'failed'
    ? `${numberText(failed)} of ${numberText(refreshes)} failed`
    : `${numberText(refreshes)} refreshes, ${outcome}`;
}

/** A link to these changes. */
function changesText(entry: HistoryEntry, station: string, root: string): Html {
  const { added, removed, stateChanges, rulesChanges, atMs } = entry;
  const changes = Object.entries({ added, removed, 'changed state': stateChanges, 'changed rules': rulesChanges });
  if (changes.every(([, count]) => count === undefined)) return unknown('not known');
  const texts = changes.flatMap(([what, count]) => (count ? [`${numberText(count)} ${what}`] : []));
  if (texts.length === 0) return html`none`;
  const since = new Date(firstMsOf(entry)).toISOString();
  const path = changesPath(station, { since, until: new Date(atMs).toISOString() });
  return html`<a href="${root}${path}">${texts.join(', ')}</a>`;
}
