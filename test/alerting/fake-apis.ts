import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { rulesFile } from '../../prometheus/source/rules-file.ts';
import { shippedRules } from '../../src/alerting/rules.ts';

/** A body, or a status and a body. */
type Answer = unknown;

/** By the path after the prefix of the API, queries by their expression; a function gets what is posted. */
export type Answers = Readonly<Record<string, Answer>>;

export class Status {
  readonly code: number;
  readonly body: string;

  constructor(code: number, body = '') {
    this.code = code;
    this.body = body;
  }
}

/** A server with these answers until the test finishes; 404 for others. */
export async function serveApi(answers: Answers, isAllowed: (request: IncomingMessage) => boolean = () => true) {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://host');
    const key = searchParams.get('query') ?? pathname.replace(/^.*\/api\/v\d\//, '').replace(/^\//, '');
    const found = isAllowed(request) ? answers[key] : new Status(401, 'Unauthorized');
    const body = await text(request);
    const answer = typeof found === 'function' ? found(request.method, body) : found;
    if (answer === undefined) response.writeHead(404).end('404 page not found');
    else if (answer instanceof Status) response.writeHead(answer.code).end(answer.body);
    else response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const JOB = 'telemetry-station-exporter';
const TARGET = { job: JOB, instance: 'exporter:9842' };

export const data = (value: unknown) => ({ status: 'success', data: value });

/** The result of an instant query. */
export const vector = (...series: readonly (readonly [labels: object, value: number])[]) =>
  data({ resultType: 'vector', result: series.map(([metric, value]) => ({ metric, value: [0, `${value}`] })) });

export const target = (changes: object = {}) => ({
  labels: TARGET,
  scrapePool: JOB,
  scrapeUrl: 'http://exporter:9842/metrics',
  health: 'up',
  lastError: '',
  discoveredLabels: { __scrape_interval__: '1m', __scrape_timeout__: '10s' },
  ...changes,
});

/** What is recorded of scrapes. */
export const scrapes = ({ series = 700, bytes = 90_000, refreshSeconds = 1.5 } = {}) =>
  vector(
    [{ __name__: 'scrape_samples_post_metric_relabeling', ...TARGET }, series],
    [{ __name__: 'telemetry_station_exporter_scrape_bytes', ...TARGET }, bytes],
    [{ __name__: 'telemetry_station_refresh_duration_seconds', ...TARGET }, refreshSeconds],
  );

export const targets = (...all: object[]) => data({ activeTargets: all });

export const config = (changes: object = {}) =>
  data({ yaml: stringify({ scrape_configs: [{ job_name: JOB }], ...changes }) });

interface Keys {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: object;
}

/** As Prometheus reports rules of this text; it prints expressions on one line. */
export function rules(file = rulesFile(), changes: object = {}, ofGroup: object = {}) {
  const { groups } = parse(file) as { groups: { name: string; rules: Keys[] }[] };
  return data({
    groups: groups.map((group) => ({
      ...group,
      interval: 60,
      ...ofGroup,
      rules: group.rules.map(({ alert, record, expr, labels }) => ({
        type: alert ? 'alerting' : 'recording',
        name: alert ?? record,
        query: expr.replace(/\s+/g, ' '),
        labels,
        health: 'ok',
        ...(alert && { duration: durations.get(`${alert} ${expr}`) }),
        ...changes,
      })),
    })),
  });
}

const shipped = await shippedRules(new URL('../../', import.meta.url));
const durations = new Map(shipped.map(({ name, query, duration }) => [`${name} ${query}`, duration]));

export const QUERIES = {
  exporters: 'group by (job, instance) (last_over_time(telemetry_station_exporter_build_info[1d]))',
  stations: 'telemetry_station_up',
  scrapes:
    'max by (__name__, job, instance) ({__name__=~"scrape_samples_post_metric_relabeling|telemetry_station_exporter_scrape_bytes|telemetry_station_refresh_duration_seconds"})',
} as const;

const STATION = { station: 'a', upstream: 'main' };

/** What a Prometheus answers with which nothing is wrong. */
export const HEALTHY: Answers = {
  'status/buildinfo': data({ version: '3.0.0' }),
  'status/config': config(),
  targets: targets(target()),
  rules: rules(),
  alertmanagers: data({ activeAlertmanagers: [{ url: 'http://am:9093/api/v2/alerts' }] }),
  metrics: '# none\n',
  [QUERIES.exporters]: vector([TARGET, 1]),
  [QUERIES.stations]: vector([{ __name__: 'telemetry_station_up', ...TARGET, ...STATION }, 1]),
  [QUERIES.scrapes]: scrapes(),
};

/** The shipped configuration, whose receivers have webhooks. */
export const ROUTING = parse(
  readFileSync(new URL('../../prometheus/alertmanager.yml', import.meta.url), 'utf8').replace(
    /- name: (\w+)/g,
    '- { name: $1, webhook_configs: [{ url: "http://127.0.0.1:9/" }] }',
  ),
) as Readonly<Record<string, unknown>>;

export const status = (routing: object = ROUTING) => ({
  versionInfo: { version: '0.34.0' },
  config: { original: stringify(routing) },
});
