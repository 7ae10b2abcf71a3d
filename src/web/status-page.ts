import type { RequestHandler } from 'express';
import { type Html, html } from './html.ts';
import { EXPORTER, type PageOptions, sendPage } from './page.ts';
import type { ExporterPort, StationStatus } from './port.ts';
import { STATION_STATES } from './station-state.ts';
import { STATION_HEADINGS, stationRow } from './status-row.ts';
import { STATUS_SCRIPT } from './status-script.ts';
import { statusTotals } from './status-totals.ts';

/** All stations at a glance. What needs the script is hidden until that runs. */
export function statusPage(exporter: ExporterPort, options: PageOptions): RequestHandler {
  const { now = Date.now } = options;
  return (_request, response) => {
    const content = statusContent(exporter.stations(), now());
    sendPage(response, 200, { title: EXPORTER, root: './', content, script: STATUS_SCRIPT, isFront: true }, options);
  };
}

function statusContent(stations: readonly StationStatus[], nowMs: number): Html {
  return html`${statusTotals(stations)}
<p id="currency" class="notice" role="status"></p>
<div id="controls" class="controls" role="search" aria-label="Stations" hidden>
<label for="filter">Filter <input id="filter" type="search" autocomplete="off" spellcheck="false"></label>
<label for="state">State <select id="state"><option value="">any</option>${Object.entries(STATION_STATES).map(
    ([state, words]) => html`<option value="${state}">${words}</option>`,
  )}</select></label>
<button id="pause" type="button" aria-pressed="false">Pause updates</button>
<p id="shown" role="status"></p>
</div>
<table id="stations" class="cards">
<caption>Coverage is the share of alertable resources that have at least one alert rule.</caption>
<thead>
<tr>${STATION_HEADINGS}</tr>
</thead>
${stations.map((station) => stationRow(station, nowMs))}</table>
${stations.length === 0 ? html`<p>No station is configured here, or none is on this shard.</p>` : []}`;
}
