import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replyWith } from '../../../src/simulator/faults.ts';
import type { FleetEntry } from '../../../src/simulator/fleet.ts';
import {
  panelsOf,
  type ShippedDashboard,
  type ShippedTarget,
  shippedDashboards,
} from '../../grafana/shipped-dashboards.ts';
import { allSelected, type QueryResult, queryVariables, runTarget, valuesFor } from './dashboard-queries.ts';
import { FAULTY, startStack } from './stack.ts';

let stack: Awaited<ReturnType<typeof startStack>>;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack?.stop());

const JOB = 'telemetry-station-exporter';

const expectEventually = (query: string, labels: string[], expected: Record<string, number>) =>
  expect.poll(() => stack.prometheus.query(query, ...labels)).toEqual(expected);

/** A number per simulated station. */
function perStation(count: (resources: readonly FleetEntry[]) => number): Record<string, number> {
  return Object.fromEntries(Array.from(stack.demo.fleets, ([name, resources]) => [name, count(resources)]));
}

describe('the example scrape configurations', () => {
  it('scrape the exporter, and one target per station, counted once, through service discovery', async () => {
    await expectEventually(`count by (job) (up{job="${JOB}"} == 1)`, ['job'], { [JOB]: 1 });
    const stations = perStation(() => 1);
    await expectEventually(
      'sum by (instance) (up{job="discovered"} and on (job, instance) telemetry_station_up)',
      ['instance'],
      stations,
    );
    await expectEventually('count(telemetry_station_exporter_build_info{job="discovered"})', [], { '': 1 });
    const total = perStation((resources) => resources.length);
    await expectEventually('sum by (station) (telemetry_station_resources{job="discovered"})', ['station'], total);
  });
});

/** The values of each rule for given series are asserted by prometheus/tests/recording.yml. */
describe('the recording rules', () => {
  it('compute the numbers of the simulated service', async () => {
    const total = perStation((resources) => resources.length);
    await expectEventually(`cluster_job_station:telemetry_station_resources:sum{job="${JOB}"}`, ['station'], total);
  });
});

interface RuleHealth {
  readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
}

describe('the rules', () => {
  it('are evaluated without an error', async () => {
    const unhealthy = async () => {
      const { groups } = await stack.prometheus.api<RuleHealth>('rules');
      const rules = groups.flatMap((group) => group.rules);
      expect(rules.length).toBeGreaterThan(20);
      return rules.filter(({ health }) => health !== 'ok').map(({ name }) => name);
    };
    await expect.poll(unhealthy).toEqual([]);
  });
});

describe('the alerting rules', () => {
  it('notify through Alertmanager while a station fails', async () => {
    stack.demo.setFaults(FAULTY, [replyWith(503)]);
    await expect
      .poll(() => stack.alertmanager.notifications.find(({ labels }) => labels['job'] === JOB))
      .toMatchObject({
        status: 'firing',
        labels: { alertname: 'TelemetryStationDown', station: FAULTY, severity: 'warning' },
        annotations: {
          description: expect.stringMatching(/Reason: status\. Last success: \d{4}-/),
          runbook_url: expect.stringMatching(/\/docs\/runbooks\/TelemetryStationDown\.md$/),
          dashboard_url: expect.stringMatching(
            /\/d\/telemetry-station-station\?from=\d{13}&to=now&var-job=.+&var-station=staging$/,
          ),
          exporter_url: 'https://exporter/stations/staging',
        },
      });
  });

  it('fire only for the failing station and for what the simulated stations contain', async () => {
    const expected = {
      TelemetryStationAlertableWithoutRules: 1,
      TelemetryStationDown: 1,
      TelemetryStationResourceFiring: 1,
    };
    await expectEventually('group by (alertname) (ALERTS{alertstate="firing"})', ['alertname'], expected);
  });
});

describe.each(shippedDashboards())('grafana/dashboards/%s', (_, dashboard) => {
  it('has values for every variable', async () => {
    const hasValues = () =>
      Promise.all(
        queryVariables(dashboard).map(async (variable) => [
          variable.name,
          (await valuesFor(stack.prometheus, variable, {}, now())).length > 0,
        ]),
      );
    // No target has the label `cluster` here.
    await expect.poll(hasValues).toEqual(queryVariables(dashboard).map(({ name }) => [name, name !== 'cluster']));
  });

  it.each([
    ['all values', (values: Record<string, string>) => values],
    ['one station', (values: Record<string, string>) => ({ ...values, station: FAULTY })],
  ])('shows data in every panel with %s selected', async (_selection, select) => {
    // A scrape that fails on a busy machine hides every series until the next one.
    const empty = async () => panelsWithoutData(dashboard, select(await everythingSelected(dashboard)));
    await expect.poll(async () => (await empty()).filter((title) => !EMPTY_WHILE_HEALTHY.has(title))).toEqual([]);
  });

  it('sends valid queries with one value of each variable selected', async () => {
    await expect(panelsWithoutData(dashboard, await firstOfEach(dashboard))).resolves.toBeInstanceOf(Array);
  });

  it('has annotations with data', async () => {
    for (const { name, expr, builtIn } of dashboard.annotations.list) {
      // Nothing critical fires here.
      if (builtIn === 1 || name === 'Critical alert') continue;
      const results = async () =>
        (await run({ expr: `${expr}`, range: false }, await everythingSelected(dashboard))).result.length;
      await expect.poll(results).toBeGreaterThan(0);
    }
  });
});

describe('a firing alert', () => {
  it('resolves when the station recovers', async () => {
    stack.demo.setFaults(FAULTY, []);
    const resolved = () =>
      stack.alertmanager.notifications.find(({ status, labels }) => status === 'resolved' && labels['job'] === JOB);
    await expect.poll(resolved).toMatchObject({ labels: { alertname: 'TelemetryStationDown', station: FAULTY } });
  });
});

/** Panels that show nothing while exporters are healthy, `resource_labels` is not configured and the optional rules have no values. */
const EMPTY_WHILE_HEALTHY = new Set([
  'Exporter alerts',
  'Resources by owner',
  'States of unknown meaning',
  'Expected and actual capacity',
  'Cost per hour by owner',
  'Listed, but not monitored',
]);

/** Titles of the panels whose queries return nothing; the tests of the recorded worlds look at single queries. */
async function panelsWithoutData(
  dashboard: ShippedDashboard,
  values: Readonly<Record<string, string>>,
): Promise<string[]> {
  const empty: string[] = [];
  for (const { title, targets = [] } of panelsOf(dashboard)) {
    const results = await Promise.all(targets.map((target) => run(target, values)));
    if (results.every(({ result }) => result.length === 0)) empty.push(title);
  }
  return empty;
}

const now = () => Date.now() / 1000;

function run(
  target: Pick<ShippedTarget, 'expr' | 'range'>,
  values: Readonly<Record<string, string>>,
): Promise<QueryResult> {
  return runTarget(stack.prometheus, target, values, { end: now(), seconds: 10, step: 5 });
}

async function everythingSelected(dashboard: ShippedDashboard): Promise<Record<string, string>> {
  return { ...allSelected(dashboard), job: JOB, resource_id: await someResourceId() };
}

/** The first value of each variable, filtered by the variables before it. */
async function firstOfEach(dashboard: ShippedDashboard): Promise<Record<string, string>> {
  const values = await everythingSelected(dashboard);
  for (const variable of queryVariables(dashboard)) {
    values[variable.name] = (await valuesFor(stack.prometheus, variable, values, now()))[0] ?? '';
  }
  return values;
}

async function someResourceId(): Promise<string> {
  const found = await stack.prometheus.query(
    `topk(1, telemetry_station_resource_sku_quantity{station="${FAULTY}"})`,
    'resource_id',
  );
  return Object.keys(found)[0] ?? '';
}
