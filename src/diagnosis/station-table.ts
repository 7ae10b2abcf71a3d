import { type Column, textTable } from '../cli/table.ts';
import type { DiagnosedStation, DiagnosedUpstream, Diagnosis } from './diagnosis.ts';
import type { Size } from './facts.ts';
import { addedCost, costText, NO_COST, type RequestCost, requestCost } from './request-cost.ts';

const COLUMNS: readonly Column[] = [
  { heading: 'STATION' },
  { heading: 'UPSTREAM' },
  { heading: 'AUTHENTICATION' },
  { heading: 'PERMISSION' },
  { heading: 'FIRST PAGE', right: true },
  { heading: 'REFRESH', right: true },
  { heading: 'TOTAL', right: true },
  { heading: 'RESOURCES', right: true },
  { heading: 'LISTING' },
  { heading: 'SERIES', right: true },
  { heading: 'BYTES', right: true },
  { heading: 'GZIP', right: true },
  { heading: 'REQUESTS', right: true },
];

/** What each station gives and costs, and all together. */
export function stationTable({ upstreams, total }: Diagnosis): string {
  const stations = upstreams.flatMap((upstream) => upstream.stations.map((station) => ({ upstream, station })));
  const rows = stations.map(({ upstream, station }) => stationRow(upstream, station));
  const resources = stations.reduce((sum, { station }) => sum + (station.snapshot?.size ?? 0), 0);
  const cost = stations.reduce((sum, { station }) => addedCost(sum, costOf(station) ?? NO_COST), NO_COST);
  const last = ['all', ...Array<string>(6).fill(''), `${resources}`, '', ...sizeCells(total), costText(cost)];
  return textTable(COLUMNS, [...rows, last]);
}

function stationRow(upstream: DiagnosedUpstream, station: DiagnosedStation): readonly string[] {
  const { spec, health, snapshot, answers, trouble } = station;
  const [first] = answers;
  const cost = costOf(station);
  return [
    spec.name,
    spec.upstream,
    authentication(upstream, station),
    permission(station),
    first === undefined ? '-' : `${first.receivedMs - first.sentMs} ms`,
    health.durationMs === undefined ? '-' : `${Math.round(health.durationMs)} ms`,
    snapshot === undefined ? '-' : `${snapshot.reportedTotal ?? 'none'}`,
    snapshot === undefined ? '-' : `${snapshot.size}`,
    trouble === undefined ? (snapshot?.complete === true ? 'complete' : 'incomplete') : `failed: ${trouble.short}`,
    ...sizeCells(station),
    cost === undefined ? '-' : costText(cost),
  ];
}

/** What a failed refresh would have cost is not known. */
function costOf({ spec, snapshot }: DiagnosedStation): RequestCost | undefined {
  return snapshot && requestCost(snapshot.pages, spec.cache.ttlMs);
}

function authentication({ options: { auth, headers } }: DiagnosedUpstream, { health, answers }: DiagnosedStation): string {
  const sent = auth === undefined && headers.length === 0 ? 'none needed' : 'accepted';
  switch (health.failure?.reason) {
    case undefined:
    case 'forbidden':
      return sent;
    case 'auth':
      return answers.some(({ status }) => status === 401) ? 'refused' : 'not available';
    default:
      return 'unknown';
  }
}

/** A service may hide behind a 404 what one is not allowed to see. */
function permission({ health }: DiagnosedStation): string {
  if (health.failure === undefined) return 'granted';
  return health.failure.reason === 'forbidden' ? 'denied' : 'unknown';
}

function sizeCells({ series, plainBytes, gzipBytes }: Size): readonly string[] {
  return [series, plainBytes, gzipBytes].map(String);
}
