import { type Column, textTable } from '../cli/table.ts';
import type { Snapshot } from '../station/snapshot.ts';
import type { StationSpec } from '../station/spec.ts';
import type { DiagnosedStation, DiagnosedUpstream, Diagnosis } from './diagnosis.ts';
import type { Failure, Size } from './facts.ts';
import { addedCost, costText, NO_COST, requestCost } from './request-cost.ts';
import type { Trouble } from './trouble.ts';

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
  const rows = upstreams.flatMap((upstream) => upstream.stations.map((station) => stationRow(upstream, station)));
  const results = upstreams
    .flatMap(({ stations }) => stations)
    .flatMap(({ spec, result }) => ('snapshot' in result ? [{ spec, ...result }] : []));
  const resources = results.reduce((sum, { snapshot }) => sum + snapshot.size, 0);
  const cost = results.reduce((sum, { snapshot, spec }) => addedCost(sum, requestCost(snapshot.pages, spec.cache.ttlMs)), NO_COST);
  const last = ['all', ...Array<string>(6).fill(''), `${resources}`, '', ...sizeCells(total), costText(cost)];
  return textTable(COLUMNS, [...rows, last]);
}

function stationRow(upstream: DiagnosedUpstream, station: DiagnosedStation): readonly string[] {
  const { spec, durationMs, answers, result } = station;
  const [first] = answers;
  const cells = 'snapshot' in result ? listedCells(result.snapshot, spec, upstream) : failedCells(result, station, upstream);
  return [
    spec.name,
    spec.upstream,
    cells.authentication,
    cells.permission,
    first === undefined ? '-' : `${first.receivedMs - first.sentMs} ms`,
    `${Math.round(durationMs)} ms`,
    cells.total,
    cells.resources,
    cells.listing,
    ...sizeCells(station),
    cells.requests,
  ];
}

/** The cells that depend on how it went. */
type ResultCells = Readonly<Record<'authentication' | 'permission' | 'total' | 'resources' | 'listing' | 'requests', string>>;

function listedCells({ reportedTotal, size, complete, pages }: Snapshot, { cache }: StationSpec, upstream: DiagnosedUpstream): ResultCells {
  return {
    authentication: accepted(upstream),
    permission: 'granted',
    total: `${reportedTotal ?? 'none'}`,
    resources: `${size}`,
    listing: complete ? 'complete' : 'incomplete',
    requests: costText(requestCost(pages, cache.ttlMs)),
  };
}

/** What a refresh would have cost is not known; and a service may hide behind a 404 what one is not allowed to see. */
function failedCells({ reason, short }: Failure & Trouble, { answers }: DiagnosedStation, upstream: DiagnosedUpstream): ResultCells {
  const refused = answers.some(({ status }) => status === 401) ? 'refused' : 'not available';
  return {
    authentication: reason === 'auth' ? refused : reason === 'forbidden' ? accepted(upstream) : 'unknown',
    permission: reason === 'forbidden' ? 'denied' : 'unknown',
    total: '-',
    resources: '-',
    listing: `failed: ${short}`,
    requests: '-',
  };
}

function accepted({ options: { auth, headers } }: DiagnosedUpstream): string {
  return auth === undefined && headers.length === 0 ? 'none needed' : 'accepted';
}

function sizeCells({ series, plainBytes, gzipBytes }: Size): readonly string[] {
  return [series, plainBytes, gzipBytes].map(String);
}
