import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { dataOf } from '../e2e/station-metrics.ts';
import type { ParsedFamily } from '../exposition/parse-exposition.ts';
import { createHttpServer, listen } from '../service/support/service.ts';
import { toldBy } from './support/matrix.ts';
import { startRealExporter, stationOf } from './support/real-exporter.ts';
import { marked } from './support/truth.ts';
import { describeMatrix, type MatrixRow } from './support/worlds.ts';

/** The replies of a gateway (grpc-gateway, protojson) to the same inventory of 13 resources. */
const RECORDINGS = new URL('../service/gateway/', import.meta.url);

interface Row extends MatrixRow {
  readonly file: string;
  readonly upstream?: object;
  readonly told?: RegExp;
}

const STATES = '1 firing, 1 pending, 1 unknown, 10 inactive';
const INVENTORY = `13 resources: ${STATES}; 5 uncovered`;
const published = (text: string) => ({ promise: text, publishes: new RegExp(`^${text}$`) });
const down = (reason: string, told: RegExp) => ({
  promise: `down: ${reason}, told`,
  publishes: new RegExp(`^(down: ${reason}|told)$`),
  told,
});

const ROWS: readonly Row[] = [
  { world: 'names of the document', file: 'snake-13.json', ...published(INVENTORY) },
  { world: 'camelCase', file: 'default-13.json', ...published(INVENTORY) },
  { world: 'counts as text', file: 'int64-13.json', ...published(INVENTORY) },
  { world: 'enums as numbers', file: 'enumnum-13.json', ...published('13 resources: 13 unknown; 5 uncovered') },
  {
    world: 'zeros left out',
    file: 'snake-omit-13.json',
    ...published(`13 resources: ${STATES}; 0 uncovered, 5 not known`),
  },
  {
    world: 'zeros left out, absent_fields set',
    file: 'snake-omit-13.json',
    upstream: { absent_fields: { alert_rules_count: 0, state: 'ALERTSTATE_UNSPECIFIED' } },
    ...published(INVENTORY),
  },
  { world: 'empty', file: 'snake-empty.json', ...published('0 resources: ; 0 uncovered') },
  { world: 'empty, the list left out', file: 'snake-omit-empty.json', ...published('0 resources: ; 0 uncovered') },
  { world: 'past the end', file: 'snake-past-end.json', ...published('incomplete: total_mismatch') },
  { world: 'a stream of one message', file: 'stream', ...down('body', /it has "result"/) },
  { world: 'INVALID_ARGUMENT', file: 'error-code-3.http', ...down('status', /page_size/) },
  { world: 'PERMISSION_DENIED', file: 'error-code-7.http', ...down('forbidden', /denies access/) },
  { world: 'UNAUTHENTICATED', file: 'error-code-16.http', ...down('auth', /credentials/) },
  { world: 'no token', file: 'error-no-token.http', ...down('auth', /credentials/) },
  { world: 'UNIMPLEMENTED', file: 'error-code-12.http', ...down('status', /501/) },
  { world: 'UNAVAILABLE', file: 'error-code-14.http', ...down('status', /503/) },
  { world: 'ABORTED', file: 'error-code-10.http', ...down('status', /409/) },
  { world: 'CANCELLED', file: 'error-code-1.http', ...down('status', /499/) },
  { world: 'RESOURCE_EXHAUSTED', file: 'error-code-8.http', ...down('rate_limited', /429/) },
  { world: 'a page above 4 MiB', file: 'error-4mib.http', ...down('(rate_limited|status|body)', /page_size/) },
  { world: 'a page size above the maximum', file: 'error-page-size.http', ...down('status', /page_size/) },
  { world: 'a wrong path', file: 'unknown-path.http', ...down('not_found', /base_url|not found/i) },
];

/** Replies to each request with the recording that begins its path. */
async function startReplaying(): Promise<string> {
  const server = createHttpServer(undefined).on('request', ({ url = '' }, response) => {
    const file = url.split('/')[1] ?? '';
    const text = file === 'stream' ? stream() : readFileSync(new URL(file, RECORDINGS), 'utf8');
    const [, status, headers = '', body] = /^HTTP\S+ (\d+).*\r?\n([\s\S]*?)\r?\n\r?\n([\s\S]*)$/.exec(text) ?? [
      '',
      200,
      'content-type: application/json',
      text,
    ];
    response.writeHead(Number(status), headers.split(/: |\r?\n/)).end(body);
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** A message of a streaming operation, as the gateway wraps it. */
function stream(): string {
  const { resources, page } = JSON.parse(readFileSync(new URL('snake-13.json', RECORDINGS), 'utf8'));
  return `${JSON.stringify({ result: { resources, page } })}\n`;
}

describeMatrix('grpc-gateway', [], ROWS, async () => {
  const url = await startReplaying();
  const names = ROWS.map((_, at) => `row-${at}`);
  const upstreams = ROWS.map(({ file, upstream }, at) => [names[at], { base_url: `${url}/${file}`, ...upstream }]);
  const exporter = await startRealExporter(
    Object.fromEntries(upstreams),
    names.map((name) => stationOf(name, name)),
  );
  const families = await exporter.scrape();
  expect(families.size).toBeGreaterThan(0);
  return Promise.all(
    ROWS.map(async ({ told }, at) => {
      const name = names[at] ?? '';
      const words = told === undefined ? [] : [await toldBy(exporter, name, told)];
      return [marked(families, name) ?? countsOf(families, name), ...words];
    }),
  );
});

/** `13 resources: 4 firing, 9 inactive; 4 uncovered, 2 not known` */
function countsOf(families: Map<string, ParsedFamily>, station: string): string {
  const data = dataOf(families, station);
  const entries = (family: string) => Object.entries(data[family] ?? {});
  const sum = (family: string) => entries(family).reduce((total, [, value]) => total + value, 0);
  const states = entries('listing_resources')
    .filter(([, count]) => count > 0)
    .map(([labels, count]) => `${count} ${JSON.parse(labels).alert_state}`)
    .toSorted();
  const unknown = sum('resources_with_unknown_alert_coverage');
  const uncovered = `${sum('resources_without_alert_rules')} uncovered${unknown > 0 ? `, ${unknown} not known` : ''}`;
  return `${sum('resources')} resources: ${states.join(', ')}; ${uncovered}`;
}
