import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replyWith } from '../../../lab/simulator/faults.ts';
import type { FleetEntry } from '../../../lab/simulator/fleet.ts';
import {
  interpolate,
  labelValuesOf,
  panelsOf,
  type ShippedDashboard,
  type ShippedTarget,
  type ShippedVariable,
  shippedDashboards,
} from '../../grafana/shipped-dashboards.ts';
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

interface RuleHealth {
  readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
}

describe('the rules', () => {
  it('are evaluated without an error', async () => {
    const unhealthy = async () => {
      const { groups } = await stack.prometheus.api<RuleHealth>('rules');
      const rules = groups.flatMap((group) => group.rules);
      expect(rules.length).toBeGreaterThan(10);
      return rules.filter(({ health }) => health !== 'ok').map(({ name }) => name);
    };
    await expect.poll(unhealthy).toEqual([]);
  });

  it('fire for a station that fails', async () => {
    stack.demo.setFaults(FAULTY, [replyWith(503)]);
    const down = 'count by (station) (ALERTS{alertname="TelemetryStationDown",alertstate="firing"})';
    await expectEventually(down, ['station'], { [FAULTY]: 1 });
  });
});

describe.each(shippedDashboards())('grafana/dashboards/%s', (_, dashboard) => {
  it('has values for every variable', async () => {
    const variables = dashboard.templating.list.filter(({ type }) => type === 'query');
    const hasValues = () =>
      Promise.all(variables.map(async (variable) => [variable.name, (await valuesFor(variable)).length > 0]));
    // No target has the label `cluster` here.
    await expect.poll(hasValues).toEqual(variables.map(({ name }) => [name, name !== 'cluster']));
  });

  it('shows data in every panel and annotation with one station selected', async () => {
    // A scrape that fails on a busy machine hides every series until the next one.
    const empty = async () => (await withoutData(dashboard)).filter((title) => !EMPTY_WHILE_HEALTHY.has(title));
    await expect.poll(empty).toEqual([]);
  });
});

/** What may show nothing while exporters are healthy. */
const EMPTY_WHILE_HEALTHY = new Set(['Request failures by reason']);

/** Titles of the panels and annotations whose queries return nothing. */
async function withoutData(dashboard: ShippedDashboard): Promise<string[]> {
  const values = {
    ...allSelected(dashboard),
    cluster: '',
    job: JOB,
    station: FAULTY,
    resource_id: await someResourceId(),
  };
  const annotations = dashboard.annotations.list.flatMap(({ name, expr }) =>
    expr === undefined ? [] : [{ title: name, targets: [{ expr, range: false }] }],
  );
  const empty: string[] = [];
  for (const { title, targets = [] } of [...panelsOf(dashboard), ...annotations]) {
    const results = await Promise.all(targets.map((target) => resultOf(target, values)));
    if (results.every(({ length }) => length === 0)) empty.push(title);
  }
  return empty;
}

const now = () => Date.now() / 1000;

/** Everything selected: "All", or for a variable without it any value. */
function allSelected({ templating }: ShippedDashboard): Record<string, string> {
  const values = templating.list.map(({ name, type, allValue, current }) => [
    name,
    type === 'query' ? allValue || '.+' : current?.value,
  ]);
  return Object.fromEntries(values);
}

/** The result of an instant or a range query, as Grafana sends it. */
async function resultOf(
  { expr, range }: Pick<ShippedTarget, 'expr' | 'range'>,
  values: Readonly<Record<string, string>>,
): Promise<readonly unknown[]> {
  const query = interpolate(expr, values);
  if (/\$[a-z_{]/.test(query)) throw new Error(`variable without a value in ${query}`);
  const times = range ? { start: `${now() - 10}`, end: `${now()}`, step: '5' } : { time: `${now()}` };
  const path = range ? 'query_range' : 'query';
  const { result } = await stack.prometheus.api<{ result: readonly unknown[] }>(path, { query, ...times });
  return result;
}

/** The values of a variable, with all instances, and a job that has no cluster. */
function valuesFor(variable: ShippedVariable): Promise<readonly string[]> {
  const { selector, label } = labelValuesOf(variable);
  return stack.prometheus.api(`label/${label}/values`, {
    'match[]': interpolate(selector, { job: JOB, station: FAULTY, instance: '.*', cluster: '' }),
    end: `${now()}`,
  });
}

async function someResourceId(): Promise<string> {
  const found = await stack.prometheus.query(
    `topk(1, telemetry_station_resource_sku_quantity{station="${FAULTY}"})`,
    'resource_id',
  );
  return Object.keys(found)[0] ?? '';
}
