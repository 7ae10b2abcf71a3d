import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { replyWith } from '../../../lab/simulator/faults.ts';
import { configOf, startExporter, wireRecord } from '../../e2e/test-bed.ts';
import { closedPort } from '../../service/support/service.ts';
import { type SimulatedService, startSimulatedService } from '../../simulator/simulated-service.ts';
import { type Notification, startAlertmanager } from './alertmanager.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';
import { shortenedRules } from './shortened-rules.ts';

/** A minute of the rules, of Prometheus and of Alertmanager takes four seconds: five scrapes in a row must not fail on a busy machine. */
const MINUTE_S = 4;

const JOB = 'telemetry-station-exporter';

/** Each world has an exporter and a service of its own, and is a cluster of the same job. */
const WORLDS = {
  'bad token': Array.from({ length: 50 }, (_, at) => `s${at}`),
  "bad token, a team's stations": ['first', 'second'],
  'one 403': ['first', 'second', 'third'],
  'exporter killed': ['prod'],
  'exporter restarted': ['first', 'second'],
  'half gone': ['prod'],
  '30 firing': ['prod'],
} as const;

type WorldName = keyof typeof WORLDS;

/** The label of all stations of a world. */
const TEAMS: Readonly<Partial<Record<string, string>>> = { "bad token, a team's stations": 'storage' };

interface World {
  readonly service: SimulatedService;
  readonly target: string;
  startAgain(): Promise<void>;
  kill(): Promise<void>;
}

const stops: (() => Promise<void>)[] = [];
const worlds = new Map<string, World>();
let prometheus: RunningPrometheus;
let alertmanager: Awaited<ReturnType<typeof startAlertmanager>>;

const world = (name: WorldName) => worlds.get(name) as World;

async function startWorld(stations: readonly string[], team: string | undefined): Promise<World> {
  const service = await startSimulatedService();
  stops.push(service.stop);
  for (const station of stations) setResources(service, station, 100);
  const config = configOf(service.url, stations, {
    upstream: { page_size: 1000 },
    ...(team !== undefined && { station: { labels: { team } } }),
    cache: { ttl: `${MINUTE_S}s`, error_ttl: '500ms' },
  });
  const port = await closedPort();
  let exporter = await startExporter(config, { port });
  stops.push(() => exporter.stop());
  return {
    service,
    target: `127.0.0.1:${port}`,
    kill: () => exporter.stop(),
    startAgain: async () => {
      await exporter.stop();
      exporter = await startExporter(config, { port });
    },
  };
}

/** The first ones are firing. */
function setResources(service: SimulatedService, station: string, count: number, firing = 0): void {
  const entries = Array.from({ length: count }, (_, at) => ({
    record: wireRecord(`r${at}`, at < firing ? { state: 'ALERTSTATE_FIRING' } : {}),
  }));
  service.setRecords(station, entries);
}

beforeAll(async () => {
  for (const [name, stations] of Object.entries(WORLDS)) worlds.set(name, await startWorld(stations, TEAMS[name]));
  alertmanager = await startAlertmanager(MINUTE_S);
  stops.push(alertmanager.stop);
  const config = {
    global: { scrape_interval: `${MINUTE_S}s`, scrape_timeout: `${MINUTE_S}s`, evaluation_interval: `${MINUTE_S}s` },
    rule_files: ['rules.yml'],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager.target] }] }] },
    scrape_configs: [
      {
        job_name: JOB,
        static_configs: [...worlds].map(([cluster, { target }]) => ({ targets: [target], labels: { cluster } })),
      },
    ],
  };
  prometheus = await startPrometheus(stringify(config), {
    files: { 'rules.yml': shortenedRules(MINUTE_S) },
    flags: ['--rules.alert.resend-delay=1s'],
  });
  stops.push(prometheus.stop);
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

/** The notifications of a world in their order, one line each. */
function sent(name: WorldName): string[] {
  return alertmanager.notifications
    .filter(({ alerts }) => alerts[0]?.labels['cluster'] === name)
    .map((notification) => describeNotification(notification));
}

function describeNotification({ receiver, groupLabels, alerts }: Notification): string {
  const statuses = [...new Set(alerts.map(({ status }) => status))].join(' and ');
  const [first] = alerts;
  // An age and a share depend on the moment of the evaluation.
  const text = first?.annotations['description']
    ?.replace(/(?:\d+m )?\d+(?:\.\d+)?s\b/, 'AGE')
    .replace(/127\.0\.0\.1:\d+/, 'TARGET')
    .replace(/Only [\d.]+%/, 'Only SHARE');
  return `${receiver}: ${alerts.length} ${statuses} ${groupLabels['alertname']}: ${text}`;
}

describe('the notifications of Alertmanager', () => {
  it('are one per cause, and no all-clear comes before the cause', async () => {
    const listed = Object.fromEntries(Object.entries(WORLDS).map(([name, stations]) => [name, 100 * stations.length]));
    // The numbers have lasted.
    await expect
      .poll(() => prometheus.query('sum by (cluster) (station:telemetry_set:min30m)', 'cluster'))
      .toEqual(listed);

    setResources(world('exporter killed').service, 'prod', 100, 1);
    world('bad token').service.setFaults('*', [replyWith(401)]);
    world("bad token, a team's stations").service.setFaults('*', [replyWith(401)]);
    world('one 403').service.setFaults('second', [replyWith(403)]);
    world('exporter restarted').service.setFaults('first', [replyWith(503)]);
    setResources(world('half gone').service, 'prod', 50);
    setResources(world('30 firing').service, 'prod', 100, 30);

    await expect.poll(() => sent('exporter killed').length).toBe(1);
    await world('exporter killed').kill();
    await expect.poll(() => sent('exporter restarted').length).toBe(1);
    await world('exporter restarted').startAgain();

    const expected: Record<WorldName, string[]> = {
      'bad token': [
        'pager: 1 firing TelemetryStationUpstreamDown: Upstream main fails: auth: TARGET answered 401 Unauthorized: code 16: simulated 401; see its page.',
      ],
      "bad token, a team's stations": [
        'pager: 1 firing TelemetryStationUpstreamDown: Upstream main fails: auth: TARGET answered 401 Unauthorized: code 16: simulated 401; see its page.',
        'teams: 2 firing TelemetryStationDown: Every refresh of station first of upstream main fails: auth: TARGET answered 401 Unauthorized: code 16: simulated 401.',
      ],
      'one 403': [
        'channel: 1 firing TelemetryStationDown: Every refresh of station second of upstream main fails: forbidden: TARGET answered 403 Forbidden: code 7: simulated 403.',
        'pager: 1 firing TelemetryStationDataStale: second stale by AGE: forbidden: TARGET answered 403 Forbidden: code 7: simulated 403.',
      ],
      'exporter killed': [
        'channel: 1 firing TelemetryStationResourceFiring: Resource name-r0 (Display r0) of type resource_type.compute.x, station prod, is firing or was when last listed. Its id is r0.',
        'pager: 1 firing TelemetryStationExporterDown: Only SHARE of the scrapes of TARGET (job telemetry-station-exporter) succeed. The targets page of Prometheus shows the error.',
      ],
      'exporter restarted': [
        'channel: 1 firing TelemetryStationDown: Every refresh of station first of upstream main fails: status: TARGET answered 503 Service Unavailable: code 14: simulated 503.',
        'pager: 1 firing TelemetryStationDataStale: first stale: status: TARGET answered 503 Service Unavailable: code 14: simulated 503.',
      ],
      'half gone': [
        'pager: 1 firing TelemetryStationResourcesLost: Station prod lists only 50 of 100 resources. See its changes page.',
      ],
      '30 firing': [
        'pager: 1 firing TelemetryStationManyResourcesFiring: 30 of 100 resources of station prod are firing, or were when last known. Look for a common cause.',
      ],
    };
    // What is not sent fires nevertheless.
    const firing = (name: string, cluster: WorldName) =>
      `count by (cluster) (ALERTS{alertname="TelemetryStation${name}",alertstate="firing",cluster="${cluster}"})`;
    await expect.poll(() => prometheus.query(firing('DataStale', 'bad token'))).toEqual({ '': 50 });
    await expect.poll(() => prometheus.query(firing('ResourceFiring', '30 firing'))).toEqual({ '': 30 });
    const names = Object.keys(WORLDS) as WorldName[];
    await expect.poll(() => Object.fromEntries(names.map((name) => [name, sent(name)]))).toEqual(expected);
  });
});
