import { describe, expect, it } from 'vitest';
import { rulesFile } from '../../prometheus/source/rules-file.ts';
import { configFlag, resultOf } from '../e2e/running-program.ts';
import { configOf } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';
import {
  type Answers,
  config,
  data,
  HEALTHY,
  JOB,
  QUERIES,
  ROUTING,
  rules,
  Status,
  scrapes,
  serveApi,
  status,
  target,
  targets,
  vector,
} from './fake-apis.ts';

const CONFIG = configOf('http://127.0.0.1:9', ['a'], { cache: { ttl: '60s' } });

async function check(prometheus: Answers = {}, routing: unknown = status(), exporter: object = CONFIG) {
  const url = await serveApi({ ...HEALTHY, ...prometheus });
  const alertmanager = await serveApi({ status: routing });
  const flags = [`--prometheus.url=${url}/`, `--alertmanager.url=${alertmanager}`];
  return resultOf(['check', configFlag(exporter), ...flags]);
}

const COMPLETE = 'alerting chain: complete, no problem found\n';

describe('check --prometheus.url --alertmanager.url', () => {
  it('says first that nothing is wrong, then what is in order, and where each alert goes', async () => {
    const { code, stdout } = await check();
    expect(code).toBe(0);
    expect(stdout).toContain(
      `is valid, stations: 1\n\n${COMPLETE}\nok: target http://exporter:9842/metrics of job ${JOB}: up,`,
    );
    expect(stdout).toContain('ok: rules: 39 of 39 are loaded\n');
    expect(stdout).toContain('ok: alerts are sent to http://am:9093/api/v2/alerts\n');
    expect(stdout).toMatch(/\nTelemetryStationUpstreamDown +critical +all +pager +cluster, job, alertname +every 4h\n/);
  });

  it('shows which scrapes are more frequent than refreshes', async () => {
    const { stdout } = await check({
      targets: targets(target({ discoveredLabels: { __scrape_interval__: '20s', __scrape_timeout__: '10s' } })),
    });
    expect(stdout).toMatch(
      /^ok: .*: up, every 20s, more often than cache.ttl \S+ (s|min) needs, timeout 10s, 700 series$/m,
    );
  });

  it('does not blame a job that was renamed, whose series are younger than a day', async () => {
    const renamed = vector(
      [{ job: JOB, instance: 'exporter:9842' }, 1],
      [{ job: 'monitor', instance: 'exporter:9842' }, 1],
    );
    expect((await check({ [QUERIES.exporters]: renamed })).stdout).toContain(COMPLETE);
  });

  it('routes alerts without the labels of a replica that Prometheus drops', async () => {
    const alerting = { alert_relabel_configs: [{ regex: 'prometheus_replica', action: 'labeldrop' }] };
    const replica = external({ prometheus_replica: 'a' }, alerting);
    const routing = { receiver: 'channel', routes: [{ receiver: 'pager', matchers: ['prometheus_replica=""'] }] };
    const { stdout } = await check(replica, status({ ...ROUTING, route: routing }));
    expect(stdout).toContain(COMPLETE);
    expect(stdout).toMatch(/\nTelemetryStationDown +warning +all +pager /);
  });

  it('shows how long alerts keep firing if it was changed', async () => {
    const { stdout } = await check({ rules: rules(undefined, { keepFiringFor: 0 }) });
    expect(stdout).toContain('TelemetryStationUpstreamDown keep_firing_for 20m → 0s');
  });

  it('shows to which stations the rules are limited', async () => {
    const limited = rulesFile().replaceAll(`job="${JOB}"`, `job="${JOB}",station!~"lab-.*"`);
    expect((await check({ rules: rules(limited) })).stdout).toContain('only station!~"lab-.*"\n');
    expect((await check()).stdout).not.toContain('only ');
  });

  it('reads regular expressions of the job as PromQL does, with their backslashes doubled', async () => {
    const series = { job: 'a.b', instance: 'exporter:9842' };
    const file = rulesFile().replaceAll(`job="${JOB}"`, String.raw`job=~"a\\.b"`);
    const { stdout } = await check({
      rules: rules(file),
      targets: targets(target({ labels: series })),
      [QUERIES.exporters]: vector([series, 1]),
      [QUERIES.stations]: vector([{ ...series, station: 'a', upstream: 'main' }, 1]),
    });
    expect(stdout).toContain(COMPLETE);
  });

  it('works with one of the two', async () => {
    const url = await serveApi({ status: status() });
    const { code, stdout } = await resultOf(['check', configFlag(CONFIG), `--alertmanager.url=${url}/alerts/`]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nTelemetryStationDown +warning +all +channel /);
    const prometheus = await serveApi(HEALTHY);
    const alone = await resultOf(['check', configFlag(CONFIG), `--prometheus.url=${prometheus}`]);
    expect(alone.stdout).not.toContain('RECEIVER');
  });

  it('shows each destination with the stations and owners that it has', async () => {
    const exporter = {
      ...CONFIG,
      resource_labels: [
        { match: { name: 'pay.*' }, labels: { team: 'pay' } },
        { match: { name: 'x' }, alertable: false },
      ],
    };
    const { stdout } = await check({}, status(), exporter);
    expect(stdout).toMatch(/\nTelemetryStationResourceFiring +warning +\d, such as station="a",.* channel +cluster/);
    expect(stdout).toMatch(
      /\nTelemetryStationResourceFiring +warning +1, such as .*team="pay".* teams +cluster, job, team/,
    );
  });

  it('colours the verdicts of findings on a terminal', async () => {
    const url = await serveApi({ ...HEALTHY, alertmanagers: data({ activeAlertmanagers: [] }) });
    const { stdout } = await resultOf(['check', configFlag(CONFIG), `--prometheus.url=${url}`], {}, 'host', 80, 80);
    expect(stdout).toContain('\u001b[31mfailure\u001b[0m: Prometheus sends alerts to no Alertmanager.\n');
  });
});

interface Case {
  readonly broken: string;
  readonly prometheus?: Answers;
  readonly routing?: unknown;
  readonly exporter?: object;
  readonly says: readonly (string | RegExp)[];
}

const external = (labels: object, alerting: object = {}) => ({
  'status/config': config({ global: { external_labels: labels }, alerting }),
});

const relabeling = (...metric_relabel_configs: object[]) => ({
  'status/config': config({ scrape_configs: [{ job_name: JOB, metric_relabel_configs }] }),
});

const FLEET = Array.from({ length: 300 }, (_, at) => `station-${at}`);

const CASES: readonly Case[] = [
  {
    broken: 'neither the configuration nor the size of scrapes can be read',
    prometheus: {
      'status/config': new Status(404),
      [QUERIES.scrapes]: new Status(503),
    },
    says: [
      /^not checked: config: .*404/m,
      'Check limits, relabeling and external labels in the configuration of the server that scrapes.',
    ],
  },
  {
    broken: 'scrapes are too rare for the rules',
    prometheus: {
      targets: targets(target({ discoveredLabels: { __scrape_interval__: '5m', __scrape_timeout__: '10s' } })),
    },
    says: [/^warning: .*scrape_interval 5m is too long for the rules/m, 'Set scrape_interval to 1m'],
  },
  {
    broken: 'a target was not scraped yet',
    prometheus: { targets: targets(target({ health: 'unknown' })) },
    says: ['not checked: target http://exporter:9842/metrics of job telemetry-station-exporter: not scraped yet.'],
  },
  {
    broken: 'the exporter requires a password',
    prometheus: {
      targets: targets(target({ health: 'down', lastError: 'server returned HTTP status 401 Unauthorized' })),
    },
    says: [/^failure: .* is down: server returned HTTP status 401/m, '--web.config.file of the exporter requires'],
  },
  {
    broken: 'bytes are near a limit',
    prometheus: { 'status/config': config({ scrape_configs: [{ job_name: JOB, body_size_limit: '100KB' }] }) },
    says: [
      /^warning: A scrape of job \S+ has 90,000 bytes, near its body_size_limit of 100,000/m,
      'Raise body_size_limit',
    ],
  },
  {
    broken: 'a refresh takes longer than a scrape may',
    prometheus: { [QUERIES.scrapes]: scrapes({ refreshSeconds: 25 }) },
    says: [/^warning: .* a refresh takes 25 s, longer than scrape_timeout 10s/m],
  },
  {
    broken: 'no series came within a day',
    prometheus: { [QUERIES.exporters]: vector(), [QUERIES.stations]: vector(), targets: targets() },
    says: ['failure: No target was this exporter within a day'],
  },
  {
    broken: 'the alerts of a replica are not those of the other',
    prometheus: external({ cluster: 'east', prometheus_replica: 'a' }),
    says: [/^warning: Alerts have the external label prometheus_replica/m, 'ok: label cluster: east'],
  },
  {
    broken: 'alerts are relabeled',
    prometheus: external({ replica: 'a' }, { alert_relabel_configs: [{ regex: 'replica', target_label: 'r' }] }),
    says: ['not checked: alert_relabel_configs change or drop alerts.'],
  },
  {
    broken: 'alerts are relabeled for one Alertmanager',
    prometheus: external({}, { alertmanagers: [{ alert_relabel_configs: [{ action: 'drop', regex: 'info' }] }] }),
    says: ['not checked: alert_relabel_configs change or drop alerts.'],
  },
  {
    broken: 'bytes are near a limit that Prometheus prints with two units',
    prometheus: {
      'status/config': config({ scrape_configs: [{ job_name: JOB, body_size_limit: '1MiB476KiB' }] }),
      [QUERIES.scrapes]: scrapes({ bytes: 1_500_000 }),
    },
    says: [/^warning: A scrape of job \S+ has 1,500,000 bytes, near its body_size_limit of 1,536,000/m],
  },
  {
    broken: 'the job is in a file that the configuration does not contain',
    prometheus: { 'status/config': config({ scrape_configs: [], scrape_config_files: ['jobs/*.yml'] }) },
    says: [
      `not checked: config: it has no job ${JOB}, which is in one of its scrape_config_files.`,
      'Check limits and relabeling there.',
    ],
  },
  {
    broken: 'series of resources are dropped to save memory',
    prometheus: relabeling({ source_labels: ['__name__'], regex: 'telemetry_station_resource_.*', action: 'drop' }),
    says: [
      'failure: Prometheus lacks what the rules read: telemetry_station_resource_firing.',
      /^warning: Prometheus lacks what dashboards read: telemetry_station_resource_state_changes_total, /m,
    ],
  },
  {
    broken: 'only some series are kept',
    prometheus: relabeling({ source_labels: ['__name__'], regex: 'telemetry_station_up|other', action: 'keep' }),
    says: [/^failure: Prometheus lacks what the rules read: .*telemetry_station_failure_info/m],
  },
  {
    broken: 'series are dropped by another label than their name',
    prometheus: { [QUERIES.stations]: vector() },
    says: [
      /^warning: Prometheus has no telemetry_station_up of a, which the configuration has\.\n {2}what to do: .*metric_relabel_configs/m,
    ],
  },
  {
    broken: 'labels are dropped that rules or owners need',
    exporter: { ...CONFIG, resource_labels: [{ match: { name: 'pay.*' }, labels: { team: 'pay' } }] },
    prometheus: relabeling({ regex: 'resource_type|team|node_version', action: 'labeldrop' }),
    says: [
      'failure: Prometheus lacks what the rules read: label resource_type, label team.',
      'warning: Prometheus lacks what dashboards read: label node_version.',
    ],
  },
  {
    broken: 'only labels of another exporter are kept',
    prometheus: relabeling({ regex: '__name__|job|instance|station', action: 'labelkeep' }),
    says: [/^failure: Prometheus lacks what the rules read: label upstream, /m],
  },
  {
    broken: 'groups of rules are evaluated every ten minutes',
    prometheus: { rules: rules(undefined, {}, { interval: 600 }) },
    says: [/^warning: Evaluated too rarely for rules that look back five minutes: replica:telemetry_set:known, /m],
  },
  {
    broken: 'a label of alerts is another one, and one Prometheus alone does not have it',
    prometheus: {
      ...external({ cluster: 'east' }, { alertmanagers: [{ alert_relabel_configs: [{ action: 'drop' }] }] }),
      rules: rules(rulesFile().replace(/\bcluster\b/g, 'k8s_cluster')),
    },
    says: ['ok: label k8s_cluster: none in external_labels'],
  },
  {
    broken: 'critical alerts are muted at night',
    routing: status({
      ...ROUTING,
      route: { receiver: 'channel', routes: [{ receiver: 'pager', mute_time_intervals: ['night'] }] },
    }),
    says: [
      /^not checked: Critical alerts are notified at certain times only: .*UpstreamDown ends at pager/m,
      'Check that the time intervals of these routes leave no gap.',
    ],
  },
  {
    broken: 'only critical alerts reach somebody',
    routing: status({
      route: { receiver: 'null', routes: [{ receiver: 'pager', matchers: ['severity="critical"'] }] },
      receivers: [{ name: 'null' }, { name: 'pager', webhook_configs: [{ url: 'http://127.0.0.1:9/' }] }],
      inhibit_rules: ROUTING['inhibit_rules'],
    }),
    says: [
      /^warning: Alerts reach nobody, because the receiver has no integration: TelemetryStationDown ends at null, /m,
      'Add an integration to it, unless nobody needs them.',
    ],
  },
  {
    broken: 'an agent cannot reach its targets',
    prometheus: {
      targets: targets(target({ health: 'down', lastError: 'connection refused' })),
      [QUERIES.exporters]: new Status(422, '{"error":"unavailable with Prometheus Agent"}'),
      [QUERIES.stations]: new Status(422, '{"error":"unavailable with Prometheus Agent"}'),
    },
    says: [/^failure: .* is down: connection refused\./m, /^not checked: queries: /m],
  },
  {
    broken: 'Alertmanager rejects all',
    prometheus: {
      metrics:
        'prometheus_notifications_errors_total{alertmanager="http://am:9093/api/v2/alerts"} 3\nprometheus_notifications_sent_total{alertmanager="http://am:9093/api/v2/alerts"} 3\n',
    },
    says: ['failure: Every alert that was sent to http://am:9093/api/v2/alerts failed.'],
  },
  {
    broken: 'rules fail',
    prometheus: { rules: rules(undefined, { health: 'err', lastError: 'found duplicate series' }) },
    says: ['failure: replica:station:seen cannot be evaluated: found duplicate series.'],
  },
  {
    broken: 'the job is a regular expression that does not match',
    prometheus: {
      targets: targets(target({ labels: { job: 'x', instance: 'y' } })),
      [QUERIES.exporters]: vector([{ job: 'x', instance: 'y' }, 1]),
      [QUERIES.stations]: vector([{ job: 'x', instance: 'y', station: 'a', upstream: 'main' }, 1]),
    },
    says: [/^failure: The rules select job="telemetry-station-exporter", but the job of the exporter is x\./m],
  },
  {
    broken: 'Alertmanager cannot be read',
    routing: new Status(403, 'forbidden'),
    says: [/^failure: Alertmanager cannot be read: 127\.0\.0\.1:\d+ answered 403 Forbidden: forbidden\./m],
  },
  {
    broken: 'Alertmanager has a configuration that cannot be read',
    routing: { versionInfo: { version: '1' }, config: { original: 'route: { receiver: x, matchers: ["a=b, c"] }' } },
    says: [/^failure: Alertmanager cannot be read: .*unexpected reply to api\/v2\/status/m],
  },
  {
    broken: 'only critical alerts of one route reach nobody, and another is muted',
    routing: status({
      ...ROUTING,
      route: {
        receiver: 'channel',
        routes: [
          { receiver: 'none', match: { severity: 'critical' }, match_re: { alertname: '.*Down' } },
          { receiver: 'pager', matchers: ['{severity="critical", "alertname" != x}'], active_time_intervals: ['work'] },
        ],
      },
      receivers: [...(ROUTING['receivers'] as object[]), { name: 'none', webhook_configs: [] }],
    }),
    says: [
      /^failure: Critical alerts reach nobody, .*: TelemetryStationUpstreamDown ends at none, TelemetryStationExporterDown ends at none\./m,
      / pager \(muted: all but work\) +nothing +every 4h/,
      / none \(no integration\) /,
    ],
  },
  {
    broken: 'Mimir evaluates the rules',
    prometheus: { 'status/config': undefined, targets: undefined, alertmanagers: undefined, metrics: undefined },
    says: [
      /^alerting chain: 3 not checked$/m,
      /^not checked: config: .*404 Not Found/m,
      'what to do: Check limits, relabeling and external labels',
      /^not checked: targets: /m,
      /^not checked: alertmanagers: /m,
    ],
  },
  {
    broken: 'it is an agent',
    prometheus: {
      rules: new Status(422, JSON.stringify({ status: 'error', error: 'unavailable with Prometheus Agent' })),
      ...Object.fromEntries(
        Object.values(QUERIES).map((query) => [
          query,
          new Status(422, '{"error":"unavailable with Prometheus Agent"}'),
        ]),
      ),
    },
    says: [
      /^not checked: rules: .*unavailable with Prometheus Agent/m,
      'Check the server that evaluates the rules, too.',
      /^not checked: queries: /m,
    ],
  },
  {
    broken: 'a target is down for another reason, and the exporter was never scraped',
    prometheus: {
      [QUERIES.exporters]: vector(),
      [QUERIES.stations]: vector(),
      targets: targets(target({ health: 'down', lastError: 'EOF' })),
    },
    says: [
      /^failure: No target was this exporter/m,
      /^failure: .* is down: EOF\.\n {2}what to do: Correct what the error/m,
    ],
  },
  {
    broken: 'labels of the target hide and replace those of the exporter',
    prometheus: {
      'status/config': config({ scrape_configs: [{ job_name: JOB, honor_labels: true }] }),
      targets: targets(target({ labels: { job: JOB, instance: 'exporter:9842', station: 'x' } })),
      [QUERIES.stations]: vector([{ job: JOB, station: 'x', exported_station: 'a', upstream: 'main' }, 1]),
    },
    says: [
      /^warning: honor_labels of job \S+ replaces station of the target/m,
      /^warning: Labels of the target hide those of the exporter, which became exported_station/m,
      /^warning: Prometheus has no telemetry_station_up of a,/m,
    ],
  },
  {
    broken: 'there are no rules',
    prometheus: { rules: data({ groups: [] }) },
    says: ['failure: None of the shipped rules is loaded.'],
  },
  {
    broken: 'the rules are of another version',
    prometheus: {
      rules: rules(
        rulesFile()
          .replaceAll('record: replica:station:seen', 'record: replica:seen')
          .replaceAll('alert: TelemetryStationOverloaded', 'alert: TelemetryStationBusy')
          .replace('max by (cluster, job, upstream)', 'min by (cluster, job, upstream)')
          .replaceAll(`job="${JOB}"`, 'job=~"telemetry-.*"')
          .replace('severity: info', 'severity: none'),
      ),
    },
    says: [
      /^failure: Missing rules: replica:station:seen\. /m,
      /^warning: Missing alerts: TelemetryStationOverloaded\./m,
      /^warning: Alerts of another version: TelemetryStationBusy\./m,
      /^warning: TelemetryStationUpstreamDown has another expression than the one shipped: min by/m,
      'TelemetryStationAlertableWithoutRules severity info → none',
    ],
  },
  {
    broken: 'Prometheus has no Alertmanager',
    prometheus: { alertmanagers: data({ activeAlertmanagers: [] }) },
    says: ['failure: Prometheus sends alerts to no Alertmanager.'],
  },
  {
    broken: 'Prometheus cannot be reached',
    prometheus: Object.fromEntries(Object.keys(HEALTHY).map((path) => [path, undefined])),
    says: [/^alerting chain: broken, 1 failure$/m, /^failure: Prometheus cannot be read: .*404 Not Found/m],
  },
  {
    broken: 'no receiver has an integration',
    routing: status({ ...ROUTING, receivers: ['pager', 'channel', 'teams', 'tickets'].map((name) => ({ name })) }),
    says: [/^alerting chain: 1 warning$/m, 'warning: No receiver has an integration'],
  },
  {
    broken: 'inhibitions are missing, and one never matches',
    routing: status({
      ...ROUTING,
      inhibit_rules: [
        {
          source_match: { alertname: 'TelemetryStationUpstreamDown' },
          target_match_re: { alertname: '.*DataStale' },
          equal: ['station'],
        },
        { source_match: { severity: 'critical' }, target_match: { severity: 'none' }, equal: ['alertname'] },
        {
          source_matchers: ['severity=critical'],
          target_matchers: ['severity=~"warning|critical"'],
          equal: ['alertname', 'station'],
        },
        {
          source_matchers: ['alertname=TelemetryStationResourcesLost'],
          target_matchers: ['alertname=TelemetryStationCapacityDropped'],
          equal: ['unit'],
        },
      ],
    }),
    says: [
      /^warning: One cause is notified several times: .*UpstreamDown does not inhibit TelemetryStationDataStale/m,
      /^warning: Rules that never match, .*: inhibit_rules\[0\], inhibit_rules\[3\]\./m,
    ],
  },
  {
    broken: 'inhibitions are missing, and there are hundreds of stations',
    prometheus: {
      [QUERIES.stations]: vector(
        ...FLEET.map((station) => [{ job: JOB, instance: 'i', station, upstream: 'main' }, 1] as const),
      ),
    },
    exporter: configOf('http://127.0.0.1:9', FLEET),
    routing: status({ ...ROUTING, inhibit_rules: [] }),
    says: [/^warning: One cause is notified several times: .*DataStale does not inhibit TelemetryStationDown/m],
  },
  {
    broken: 'the answer is a page',
    prometheus: { rules: '<html>' },
    says: [/^not checked: rules: 127\.0\.0\.1:\d+: unexpected reply to api\/v1\/rules\./m],
  },
];

describe('the findings of check', () => {
  it.each(CASES)('name the cause when $broken', async ({ prometheus, routing, exporter, says }) => {
    const { code, stdout } = await check(prometheus, routing, exporter);
    for (const text of says) expect(stdout).toMatch(text);
    expect(stdout).not.toContain(COMPLETE);
    expect(code).toBe(stdout.includes('\nfailure: ') ? 1 : 0);
  });
});

describe('--prometheus.config.file', () => {
  it('has the credentials, which no output contains', async () => {
    const password = 'open sesame';
    const header = `Basic ${Buffer.from(`viewer:${password}`).toString('base64')}`;
    const url = await serveApi(HEALTHY, ({ headers }) => headers.authorization === header);
    const withPassword = (text: string) => {
      const auth = `basic_auth: { username: viewer, password: ${text} }`;
      const flag = `--prometheus.config.file=${temporaryFile('client.yaml', auth)}`;
      return resultOf(['check', configFlag(CONFIG), `--prometheus.url=${url}`, flag]);
    };
    expect((await withPassword(password)).stdout).toContain(COMPLETE);
    const { code, stdout, stderr } = await withPassword('wrong');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failure: Prometheus cannot be read: .*401 Unauthorized: Unauthorized\.$/m);
    expect(stdout + stderr).not.toMatch(/wrong|sesame/);
  });

  it('is validated, and needs the URL', async () => {
    const file = `--alertmanager.config.file=${temporaryFile('client.yaml', 'basic_auht: {}')}`;
    const run = (...flags: string[]) => resultOf(['check', configFlag(CONFIG), ...flags]);
    expect((await run(file)).stderr).toContain('--alertmanager.config.file: requires --alertmanager.url\n');
    const url = '--alertmanager.url=http://127.0.0.1:9';
    expect((await run(url, file)).stderr).toMatch(
      /client\.yaml:1:1: basic_auht: unknown key, did you mean basic_auth\?/,
    );
    expect((await run(url, '--alertmanager.config.file=/none')).stderr).toMatch(/^\/none:1:1: cannot be read: /m);
  });
});
