import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { Html, html } from './html.ts';
import type { WebOptions } from './options.ts';
import type { ExporterPort, StationStatus } from './port.ts';
import { send, setPolicy } from './respond.ts';
import { stationRow } from './status-row.ts';
import { STATUS_STYLE } from './status-style.ts';

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STATUS_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page for people. Its links are relative, so they hold under any prefix. */
export function statusPage(exporter: ExporterPort, options: Pick<WebOptions, 'telemetryPath' | 'version'>): RequestHandler {
  return (_request, response) => {
    setPolicy(response, POLICY);
    send(response, 200, 'text/html; charset=utf-8', page(exporter.stations(), options).text);
  };
}

function page(stations: readonly StationStatus[], { telemetryPath, version }: Pick<WebOptions, 'telemetryPath' | 'version'>): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Telemetry station exporter</title>
<style>${new Html(STATUS_STYLE)}</style>
</head>
<body>
<header>
<h1>Telemetry station exporter</h1>
<p>Version ${version} · ${summary(stations)}</p>
</header>
<nav aria-label="Endpoints">
<ul>
<li><a href=".${telemetryPath}">Metrics</a></li>
<li><a href="./sd">Service discovery</a></li>
<li><a href="./config">Configuration</a></li>
<li><a href="./-/healthy">Healthy</a></li>
<li><a href="./-/ready">Ready</a></li>
</ul>
</nav>
<main>
<table>
<thead>
<tr><th scope="col">Station</th><th scope="col">Upstream</th><th scope="col">Telemetry station</th><th scope="col">State</th><th class="number" scope="col">Resources</th><th scope="col">Complete</th><th scope="col">Last success</th></tr>
</thead>
<tbody>
${stations.map(stationRow)}</tbody>
</table>
</main>
</body>
</html>
`;
}

function summary(stations: readonly StationStatus[]): string {
  const count = (up: boolean | undefined) => stations.filter((station) => station.up === up).length;
  const noun = stations.length === 1 ? 'station' : 'stations';
  return `${stations.length} ${noun}: ${count(true)} up, ${count(false)} failing, ${count(undefined)} not tried`;
}
