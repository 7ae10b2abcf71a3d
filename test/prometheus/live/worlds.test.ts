import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPanelsOf, panelsOf } from '../../grafana/shipped-dashboards.ts';
import { dashboards, WorldPanels } from './world-panels.ts';
import { FIRING_RESOURCE, LARGE, RECORDED_WORLDS, startWorlds } from './worlds.ts';

let prometheus: Awaited<ReturnType<typeof startWorlds>>;
let panels: WorldPanels;

beforeAll(async () => {
  prometheus = await startWorlds();
  panels = new WorldPanels(prometheus);
});

afterAll(() => prometheus?.stop());

describe.each(Object.entries(dashboards))('%s without data', (file, dashboard) => {
  it('shows no value in any panel, so that nothing unknown looks fine', async () => {
    expect(await panels.emptyPanels(file, 'empty')).toEqual(panelsOf(dashboard).map(({ title }) => title));
  });
});

/** The tests of test/grafana/display check what Grafana shows of these results. */
describe('the queries of all dashboards', () => {
  it.each(RECORDED_WORLDS)('return the recorded results in the world %s', async (world) => {
    const file = new URL(`../../grafana/display/results/${world}.ndjson`, import.meta.url).pathname;
    await expect(await panels.recorded(world, { limit: '5' })).toMatchFileSnapshot(file);
  });
});

describe('charts of stations in two jobs', () => {
  it.each(['Refresh status by station', 'Data age', 'Refresh duration', 'Coverage by station'])(
    'have one series per station, although a station of the same name was added within the time range: %s',
    async (title) => {
      const [series = []] = await panels.resultsOf('fleet.json', title, 'two-jobs');
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
  it.each(['Web (', 'web (1)', '(', 'Web (1)'])(
    'finds the resource whose display name contains %j literally',
    async (display_name) => {
      const [rows = []] = await panels.resultsOf('resources.json', 'Inventory', 'station-down', { display_name });
      expect(rows.map(({ metric }) => metric['resource_id'])).toEqual([FIRING_RESOURCE.resource_id]);
    },
  );

  it.each(['vision(', 'Web .1.', '.*', '[', '\\', '"', '+', '$', '{1}'])(
    'accepts the text %j and finds nothing',
    async (display_name) => {
      const [rows] = await panels.resultsOf('resources.json', 'Inventory', 'station-down', { display_name });
      expect(rows).toEqual([]);
    },
  );
});

describe('dashboards with 100,000 resources', () => {
  it('count resources without alert rules alike', async () => {
    const shown = await Promise.all([
      panels.shownValue('fleet.json', 'Without alert rules', 'large'),
      panels.shownValue('station.json', 'Without alert rules', 'large'),
      panels.shownValue('resources.json', 'Matching, no rules', 'large'),
    ]);
    expect(shown).toEqual([5_000, 5_000, 5_000]);
  });

  it('list firing resources first', async () => {
    const [rows = []] = await panels.resultsOf('resources.json', 'Inventory', 'large');
    const [note, ...resources] = rows.toSorted((left, right) => Number(right.value[1]) - Number(left.value[1]));
    expect(note?.metric).toEqual({
      display_name: '200 of 100000 shown: raise Rows, or search on the page of the exporter',
    });
    expect(resources).toHaveLength(200);
    expect(new Set(resources.map(({ metric }) => metric['state_label']))).toEqual(new Set(['firing']));
  });

  it.each(Object.entries(dashboards))('open without reading a sample per resource: %s', async (file, dashboard) => {
    const queries: { title: string; peakSamples: number; seconds: number }[] = [];
    for (const panel of openPanelsOf(dashboard)) {
      for (const target of panel.targets ?? []) {
        const { stats } = await panels.run(dashboard, panel, target, 'large');
        const instant = await panels.run(dashboard, panel, { ...target, range: false }, 'large');
        queries.push({
          title: panel.title,
          peakSamples: instant.stats.samples.peakSamples,
          seconds: stats.timings.evalTotalTime,
        });
      }
    }
    expect(queries.filter(({ peakSamples }) => peakSamples > LARGE.resources / 10)).toEqual([]);
    const total = queries.reduce((sum, { seconds }) => sum + seconds, 0);
    // For the figures of grafana/README.md.
    console.info(`${file}: ${queries.length} queries of the opening screen, evaluated in ${total.toFixed(2)} s`);
  });
});
