import { type Html, html } from './html.ts';
import type { StationStatus } from './port.ts';

const UNKNOWN = '–';

/** One station as a row of the status page's table. The data-label stands for the heading where a narrow screen hides that. */
export function stationRow(station: StationStatus): Html {
  return html`<tr>
<th scope="row" data-label="Station"><a href="./probe?${new URLSearchParams({ station: station.name }).toString()}">${station.name}</a></th>
<td data-label="Upstream"><span>${station.upstream}</span></td>
<td data-label="Telemetry station"><span>${station.telemetryStation}</span></td>
<td data-label="State">${state(station)}</td>
<td class="number" data-label="Resources">${station.snapshot?.resources ?? UNKNOWN}</td>
<td data-label="Complete">${yesOrNo(station.snapshot?.complete)}</td>
<td data-label="Last success">${instant(station.lastSuccessMs)}</td>
</tr>
`;
}

function state({ up, failure }: StationStatus): Html {
  if (up === undefined) return html`<span class="state not-tried">not tried</span>`;
  if (up) return html`<span class="state up">up</span>`;
  const why = failure === undefined ? [] : [html`<div class="why">${failure.reason}: ${failure.message}</div>`];
  return html`<span class="state failing">failing</span>${why}`;
}

function yesOrNo(value: boolean | undefined): string {
  if (value === undefined) return UNKNOWN;
  return value ? 'yes' : 'no';
}

function instant(ms: number | undefined): Html | string {
  if (ms === undefined) return UNKNOWN;
  const iso = new Date(ms).toISOString();
  return html`<time datetime="${iso}">${iso}</time>`;
}
