import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { panelsOf, shippedDashboards } from '../../grafana/shipped-dashboards.ts';
import { allSelected, type QueryResult, runTarget } from './dashboard-queries.ts';
import { NOW_S } from './world-series.ts';
import { FIRING_RESOURCE, startWorlds, WORLDS } from './worlds.ts';

const RANGE_S = 6 * 3600;

const panels = shippedDashboards().flatMap(([file, dashboard]) =>
  panelsOf(dashboard).map((panel) => ({ name: `${file}: ${panel.title}`, dashboard, panel })),
);

let prometheus: Awaited<ReturnType<typeof startWorlds>>;

beforeAll(async () => {
  prometheus = await startWorlds();
});

afterAll(() => prometheus?.stop());

/** The result of each query of a panel, by dashboard and title. */
async function resultsOf(name: string, values: Readonly<Record<string, string>>): Promise<QueryResult['result'][]> {
  const { dashboard, panel } = panels.find((candidate) => candidate.name === name) ?? expect.unreachable(name);
  const { targets = [], maxDataPoints = 360 } = panel;
  const selected = {
    ...allSelected(dashboard),
    __rate_interval: '4m',
    __range: '6h',
    resource_id: FIRING_RESOURCE.resource_id,
    ...values,
  };
  const range = { end: NOW_S, seconds: RANGE_S, step: Math.ceil(RANGE_S / maxDataPoints) };
  const answers = await Promise.all(targets.map((target) => runTarget(prometheus, target, selected, range)));
  return answers.map(({ result }) => result);
}

/** Labels and value of each series that has one at the end of the time range, in a stable order and without the last digits. */
function recorded(result: QueryResult['result']): [labels: object, value: number][] {
  const rows = result.flatMap(({ metric, value, values = [] }): [object, number][] => {
    const [time, text] = value ?? values.at(-1) ?? [];
    const labels = Object.entries(metric).toSorted(([left], [right]) => (left < right ? -1 : 1));
    return time === NOW_S ? [[Object.fromEntries(labels), Number(Number(text).toPrecision(12))]] : [];
  });
  return rows.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
}

describe('the queries of all dashboards', () => {
  /** The tests of test/grafana/display check what Grafana shows of these results. */
  it.each(Object.entries(WORLDS))('return the recorded results in the world %s', async (world, job) => {
    const lines: string[] = [];
    for (const { name } of panels) {
      const results = await resultsOf(name, { job, limit: '5' });
      lines.push(JSON.stringify([name, ...results.map(recorded)]));
    }
    const file = new URL(`../../grafana/display/results/${world}.ndjson`, import.meta.url).pathname;
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(file);
  });

  it('return no value in any panel without data, so that nothing unknown looks fine', async () => {
    const withValues: string[] = [];
    for (const { name } of panels) {
      const results = await resultsOf(name, { job: 'none' });
      if (results.every((result) => result.length > 0)) withValues.push(name);
    }
    expect(withValues).toEqual([]);
  });
});

describe('charts of stations in two jobs', () => {
  it.each(['Refresh status by station', 'Data age', 'Refresh duration', 'Coverage by station'])(
    'have one series per station, although a station of the same name was added within the time range: %s',
    async (title) => {
      const [series = []] = await resultsOf(`fleet.json: ${title}`, { job: WORLDS['two-jobs'] });
      expect(series.map(({ metric }) => `${metric['job']}: ${metric['station_label']}`).toSorted()).toEqual([
        'two-jobs-a: two-jobs-a',
        'two-jobs-a: two-jobs-a / prod',
        'two-jobs-b: two-jobs-b',
        'two-jobs-b: two-jobs-b / prod',
      ]);
    },
  );
});

describe('the search of the inventory', () => {
  it.each([
    { display_name: 'Web (', found: [FIRING_RESOURCE.resource_id] },
    { display_name: 'web (1)', found: [FIRING_RESOURCE.resource_id] },
    { display_name: 'Web .1.', found: [] },
    { display_name: '[', found: [] },
    { display_name: '\\', found: [] },
    { display_name: '"', found: [] },
    { display_name: '$', found: [] },
  ])('takes $display_name literally, in upper or lower case', async ({ display_name, found }) => {
    const [rows = []] = await resultsOf('resources.json: Inventory', { job: WORLDS['station-down'], display_name });
    expect(rows.map(({ metric }) => metric['resource_id'])).toEqual(found);
  });
});
