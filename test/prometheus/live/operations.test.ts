import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READS_EACH_RESOURCE } from '../../../grafana/source/per-resource.ts';
import type { WorldEntry } from '../../../src/simulator/world.ts';
import {
  filledIn,
  labelValuesOf,
  panelsOf,
  type ShippedDashboard,
  type ShippedTarget,
  type ShippedVariable,
  shippedDashboards,
} from '../../grafana/shipped.ts';
import type { Series } from './prometheus.ts';
import { NOW_MS, RESTLESS, startStack } from './stack.ts';

let stack: Awaited<ReturnType<typeof startStack>>;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack?.stop());

const JOB = 'telemetry-station-exporter';
const patience = { timeout: 30_000, interval: 250 };

const eventually = (query: string, labels: string[], expected: Record<string, number>) =>
  expect.poll(() => stack.prometheus.query(query, ...labels), patience).toEqual(expected);

/** A number for each station of the simulated world. */
function world(count: (resources: readonly WorldEntry[], station: string) => number): Record<string, number> {
  const { stations, resources } = stack.demo.world;
  return Object.fromEntries(stations.map(({ name }) => [name, count(resources(name, NOW_MS), name)]));
}

const sumOf = (numbers: Record<string, number>) => Object.values(numbers).reduce((sum, number) => sum + number, 0);

describe('the scrape configurations', () => {
  it('bring up the exporter, and one target per station through service discovery', async () => {
    await eventually(`count by (job) (up{job="${JOB}"} == 1)`, ['job'], { [JOB]: 1 });
    const stations = world(() => 1);
    await eventually('sum by (instance) (up{job="discovered"} and on (job, instance) telemetry_station_up)', ['instance'], stations);
    await eventually('count(telemetry_station_exporter_build_info{job="discovered"})', [], { '': 1 });
  });

  it('take each station once under service discovery', async () => {
    const total = world((resources) => resources.length);
    await eventually('sum by (station) (telemetry_station_resources{job="discovered"})', ['station'], total);
  });
});

describe('the recording rules', () => {
  it('give the simulated world’s numbers', async () => {
    const total = world((resources) => resources.length);
    await eventually(`job_station:telemetry_station_resources:sum{job="${JOB}"}`, ['station'], total);
    await eventually(`sum by (station) (job_station_resource_type:telemetry_station_resources:sum{job="${JOB}"})`, ['station'], total);
    await eventually(`sum by (station) (job_station_state:telemetry_station_resources:sum{job="${JOB}"})`, ['station'], total);
    const share = `round(job_station:telemetry_station_alert_coverage:ratio{job="${JOB}"}, 0.0001)`;
    await eventually(share, ['station'], world(coverage));
    const gpus = `sum by (station) (job_station_gpu_model_unit:telemetry_station_sku_quantity:sum{job="${JOB}",unit="GPU"})`;
    await eventually(gpus, ['station'], world(gpuCount));
  });

  it('tell how fresh each station is', async () => {
    await eventually(
      'count by (station) (job_station:telemetry_station_data_age:seconds < 120)',
      ['station'],
      world(() => 2),
    );
  });
});

describe('the alerts', () => {
  it('go through Alertmanager to a webhook while a station fails', async () => {
    stack.demo.service.setFaults(RESTLESS.telemetryStation, [{ kind: 'status', code: 503 }]);
    await expect
      .poll(() => stack.alertmanager.notified.find(({ labels }) => labels['job'] === JOB), patience)
      .toMatchObject({
        status: 'firing',
        labels: { alertname: 'TelemetryStationDown', station: RESTLESS.station, reason: 'status', severity: 'warning' },
        annotations: { runbook_url: expect.stringMatching(/\/docs\/runbooks\/TelemetryStationDown\.md$/) },
      });
  });

  it('are no others than what is wrong in the simulated world', async () => {
    const expected = { TelemetryStationAlertableWithoutRules: 1, TelemetryStationDown: 1, TelemetryStationResourceFiring: 1 };
    await eventually('group by (alertname) (ALERTS{alertstate="firing"})', ['alertname'], expected);
  });
});

describe.each(shippedDashboards())('the dashboard %s', (_, dashboard) => {
  it('offers values for every variable', async () => {
    const offered = await Promise.all(
      queried(dashboard).map(async (variable) => [variable.name, (await valuesFor(variable, {})).length > 0]),
    );
    expect(offered).toEqual(queried(dashboard).map(({ name }) => [name, true]));
  });

  it.each([
    ['everything', (values: Record<string, string>) => values],
    ['one station', (values: Record<string, string>) => ({ ...values, station: RESTLESS.station })],
  ])('shows data in every panel with %s selected', async (_selection, selected) => {
    const values = selected(await everything(dashboard));
    const empty = await titlesWithout(dashboard, values);
    expect(empty.filter((title) => !WELL_IN_THE_DEMO.has(title))).toEqual([]);
  });

  it('asks what Prometheus can answer with one of each selected', async () => {
    await expect(titlesWithout(dashboard, await firstOfEach(dashboard))).resolves.toBeInstanceOf(Array);
  });

  it('reads no more than a few series for a panel that does not say so', async () => {
    const values = await everything(dashboard);
    const reads: Record<string, number> = {};
    for (const { title, description = '', targets = [] } of panelsOf(dashboard)) {
      if (description.includes(READS_EACH_RESOURCE)) continue;
      for (const target of targets) {
        const { stats } = await run({ ...target, range: false }, values);
        reads[title] = Math.max(reads[title] ?? 0, stats.samples.peakSamples);
      }
    }
    const resources = sumOf(world((entries) => entries.length));
    expect(Object.entries(reads).filter(([, samples]) => samples > resources / 4)).toEqual([]);
  });

  it('has annotations that Prometheus can answer', async () => {
    for (const { expr, builtIn } of dashboard.annotations.list) {
      if (builtIn === 1) continue;
      const { result } = await run({ expr: `${expr}`, range: false }, { job: '.+' });
      expect(result.length).toBeGreaterThan(0);
    }
  });
});

describe('the fleet dashboard', () => {
  it('shows the simulated world’s numbers', async () => {
    const [, fleet] = shippedDashboards().find(([file]) => file === 'fleet.json') ?? [];
    if (fleet === undefined) throw new Error('fleet.json is missing');
    const shown = async (title: string) => {
      const target = panelsOf(fleet).find((panel) => panel.title === title)?.targets?.[0];
      if (target === undefined) throw new Error(`there is no panel ${title}`);
      const { result } = await run(target, { ...(await everything(fleet)), job: JOB });
      return Number(result[0]?.value[1]);
    };
    expect(await shown('Stations')).toBe(stack.demo.world.stations.length);
    expect(await shown('Failing')).toBe(1);
    expect(await shown('Resources')).toBe(sumOf(world((resources) => resources.length)));
    expect(await shown('Firing')).toBe(
      sumOf(world((resources) => resources.filter(({ record }) => record.state.endsWith('FIRING')).length)),
    );
    expect(await shown('GPUs')).toBe(sumOf(world(gpuCount)));
  });
});

describe('the alert', () => {
  it('resolves when the station is mended', async () => {
    stack.demo.service.setFaults(RESTLESS.telemetryStation, []);
    const resolved = () => stack.alertmanager.notified.find(({ status, labels }) => status === 'resolved' && labels['job'] === JOB);
    await expect.poll(resolved, patience).toMatchObject({ labels: { alertname: 'TelemetryStationDown', station: RESTLESS.station } });
  });
});

/** The panels that have nothing to show because nothing is wrong. */
const WELL_IN_THE_DEMO = new Set(['Unreadable fields']);

const queried = (dashboard: ShippedDashboard) => dashboard.templating.list.filter(({ type }) => type === 'query');

interface Answer {
  readonly result: readonly Series[];
  readonly stats: { readonly samples: { readonly peakSamples: number } };
}

/** The panels that have a query without an answer. */
async function titlesWithout(dashboard: ShippedDashboard, values: Readonly<Record<string, string>>): Promise<string[]> {
  const empty: string[] = [];
  for (const { title, targets = [] } of panelsOf(dashboard)) {
    const answers = await Promise.all(targets.map((target) => run(target, values)));
    if (answers.some(({ result }) => result.length === 0)) empty.push(title);
  }
  return empty;
}

/** As Grafana would: at the end of the time range, or over it. */
function run({ expr, range }: Pick<ShippedTarget, 'expr' | 'range'>, values: Readonly<Record<string, string>>): Promise<Answer> {
  const query = filledIn(expr, values);
  if (query.includes('$')) throw new Error(`a variable is left in ${query}`);
  const end = Date.now() / 1000;
  const window = { start: `${end - 10}`, end: `${end}`, step: '5' };
  return stack.prometheus.api<Answer>(range ? 'query_range' : 'query', { query, stats: 'all', ...(range && window) });
}

async function valuesFor(variable: ShippedVariable, values: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { selector, label } = labelValuesOf(variable);
  const all = Object.fromEntries(['job', 'station', 'instance', 'resource_type', 'product'].map((name) => [name, '.*']));
  return stack.prometheus.api<string[]>(`label/${label}/values`, { 'match[]': filledIn(selector, { ...all, ...values }) });
}

async function everything({ templating }: ShippedDashboard): Promise<Record<string, string>> {
  const values = templating.list.map(({ name, type, allValue, current }) => [name, type === 'query' ? allValue : current?.value]);
  return { ...Object.fromEntries(values), job: JOB, resource_id: await anyResource() };
}

/** The first value that each variable offers under those before it. */
async function firstOfEach(dashboard: ShippedDashboard): Promise<Record<string, string>> {
  const values = await everything(dashboard);
  for (const variable of queried(dashboard)) values[variable.name] = (await valuesFor(variable, values))[0] ?? '';
  return values;
}

async function anyResource(): Promise<string> {
  const found = await stack.prometheus.query(
    `topk(1, telemetry_station_resource_sku_quantity{station="${RESTLESS.station}"})`,
    'resource_id',
  );
  return Object.keys(found)[0] ?? '';
}

/** Of the resources that can have alerts, where the station knows which these are. */
function coverage(resources: readonly WorldEntry[], station: string): number {
  const base = station === 'personal' ? resources : resources.filter(({ alertable }) => alertable);
  const without = base.filter(({ record }) => record.alert_rules_count === 0);
  return Math.round((1 - without.length / base.length) * 10_000) / 10_000;
}

function gpuCount(resources: readonly WorldEntry[]): number {
  return resources.reduce((sum, { record: { sku } }) => sum + (sku.endsWith(' GPU') ? Number(sku.split(' ')[0]) : 0), 0);
}
