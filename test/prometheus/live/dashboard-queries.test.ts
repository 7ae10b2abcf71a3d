import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { interpolate, shippedPanels } from '../../grafana/shipped-dashboards.ts';
import { temporaryFile } from '../../service/support/files.ts';

const run = promisify(execFile);
const panels = new Map(shippedPanels());
const JOB = 'job="j"';
const VARIABLES = { cluster: '', job: 'j', station: 'prod', upstream: 'east', owner: 'team' };

type Series = Readonly<Record<string, string>>;
type Result = Readonly<Record<string, number>>;

/** A query of a panel, and what it returns ten minutes after the first sample of the series, a sample per minute. */
interface Case {
  readonly panel: string;
  readonly query?: number;
  readonly variables?: Readonly<Record<string, string>>;
  readonly series: Series;
  readonly expected: Result;
  readonly minute?: number;
}

async function expectResult({ panel, query = 0, variables = {}, series, expected, minute = 10 }: Case): Promise<void> {
  const { targets } = panels.get(panel) ?? expect.unreachable(panel);
  const expr = interpolate(targets?.[query]?.expr ?? '', { ...VARIABLES, __interval: '5m', ...variables });
  const exp_samples = Object.entries(expected).map(([labels, value]) => ({ labels, value }));
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const promql_expr_test = [{ expr, eval_time: `${minute}m`, exp_samples }];
  const tests = [{ interval: '1m', input_series, promql_expr_test }];
  const file = temporaryFile('test.yml', JSON.stringify({ rule_files: [], evaluation_interval: '1m', tests }));
  const { stdout } = await run('promtool', ['test', 'rules', file]);
  expect(stdout).toContain('SUCCESS');
}

describe('queries of counts', () => {
  const listing = (instance: string, alertState: string) =>
    `telemetry_station_listing_resources{${JOB},instance="${instance}",station="prod",upstream="east",alert_state="${alertState}"}`;
  const resources = (instance: string, state: string) =>
    `telemetry_station_resources{${JOB},instance="${instance}",station="prod",resource_type="vm",state="${state}",alert_state="${state}"}`;

  it('count a resource once whose state replicas do not agree on', async () => {
    const counts = { a: { firing: '1x10', inactive: '9x10' }, b: { firing: '0x10', inactive: '10x10' } };
    const seriesOf = (name: typeof listing) =>
      Object.fromEntries(
        Object.entries(counts).flatMap(([instance, states]) =>
          Object.entries(states).map(([state, values]) => [name(instance, state), values]),
        ),
      );
    await expectResult({ panel: 'fleet.json: Resources', query: 1, series: seriesOf(listing), expected: { '{}': 10 } });
    const expected = { '{resource_type="vm"}': 10 };
    await expectResult({ panel: 'fleet.json: Resources by type', series: seriesOf(resources), expected });
  });

  it('return what was known before the exporter went down, for 15 minutes', async () => {
    const series = { [listing('a', 'firing')]: '3x5 stale', [listing('a', 'inactive')]: '7x5 stale' };
    const panel = 'fleet.json: All stations';
    const known = { '{job="j",station="prod",upstream="east"}': 10 };
    await expectResult({ panel, query: 4, series, expected: known });
    await expectResult({ panel, query: 4, series, expected: {}, minute: 21 });
    const up = { [`telemetry_station_up{${JOB},instance="a",station="prod",upstream="east"}`]: '1x5 stale' };
    await expectResult({ panel, query: 0, series: up, expected: { '{job="j",station="prod",upstream="east"}': 1 } });
    await expectResult({ panel, query: 7, series: up, expected: {} });
  });

  it('return the number of changes, not an extrapolated one, and none for a restart', async () => {
    const removed = `telemetry_station_resources_removed_total{${JOB},instance="a",station="prod",resource_type="vm"}`;
    const panel = 'fleet.json: Added and removed';
    await expectResult({ panel, query: 1, series: { [removed]: '0x6 150x10' }, expected: { '{}': -150 } });
    await expectResult({ panel, query: 1, series: { [removed]: '150x6 0x10' }, expected: { '{}': 0 } });
  });

  it('count by the owners of resources, or else by those of stations', async () => {
    const ofStation = `telemetry_station_listing_resources{${JOB},instance="a",station="prod",alert_state="inactive",team="storage"}`;
    const ofResources = `telemetry_station_resources{${JOB},instance="a",station="prod",state="OK",alert_state="inactive",team="web"}`;
    const panel = 'fleet.json: Resources by owner';
    await expectResult({ panel, series: { [ofStation]: '8x10' }, expected: { '{team="storage"}': 8 } });
    const both = { [ofStation]: '8x10', [ofResources]: '5x10' };
    await expectResult({ panel, series: both, expected: { '{team="web"}': 5 } });
  });
});

describe('the queries of the refreshes of stations', () => {
  const labels = (station: string, upstream: string) => `job="j",station="${station}",upstream="${upstream}"`;
  const CALM = labels('calm', 'main');
  const ALONE = labels('alone', 'main');
  const ALL = labels('all', 'east');
  const panel = 'fleet.json: All stations';
  const variables = { station: '.+' };
  const series = {
    [`telemetry_station_up{instance="a",${CALM}}`]: '1x10',
    [`telemetry_station_up{instance="a",${ALONE}}`]: '0x10',
    [`telemetry_station_up{instance="a",${ALL}}`]: '0x10',
    [`telemetry_station_failure{instance="a",${ALONE},reason="forbidden"}`]: '1x10',
    [`telemetry_station_failure{instance="a",${ALL},reason="auth"}`]: '1x10',
  };

  it('rank a station that fails alone before those of an upstream that fails altogether, and return why each failed', async () => {
    const expected = { [`{${CALM}}`]: 1, [`{${ALONE}}`]: -1, [`{${ALL}}`]: 0 };
    await expectResult({ panel, variables, series, expected });
    const reasons = {
      [`{${CALM},reason="Up"}`]: 1,
      [`{${ALONE},reason="forbidden"}`]: 1,
      [`{${ALL},reason="auth"}`]: 1,
    };
    await expectResult({ panel, query: 7, variables, series, expected: reasons });
  });
});

describe('the query of the alerts of a station', () => {
  it('returns those of its upstream, and of no other', async () => {
    const alert = (upstream: string) =>
      `ALERTS{${JOB},alertname="TelemetryStationUpstreamDown",alertstate="firing",severity="critical",upstream="${upstream}"}`;
    await expectResult({
      panel: 'station.json: Alerts',
      series: { [alert('east')]: '1x10', [alert('west')]: '1x10' },
      expected: { [`${alert('east').slice(0, -1)},where="east"}`]: 1 },
    });
  });
});
