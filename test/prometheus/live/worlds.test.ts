import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPanelsOf, panelsOf } from '../../grafana/shipped-dashboards.ts';
import { EXPECTED_COLORS, EXPECTED_EMPTY } from './world-expectations.ts';
import { dashboards, WorldPanels } from './world-panels.ts';
import { NOW_S } from './world-series.ts';
import { FIRING_RESOURCE, LARGE, startWorlds } from './worlds.ts';

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

  it('colors no stat', async () => {
    expect(new Set(Object.values(await panels.colorsOf(file, 'empty')))).toEqual(new Set(['text']));
  });
});

describe.each(EXPECTED_COLORS)('the stats of the %s world', (world, colors) => {
  it.each(Object.entries(colors))('have the colors of their values: %s', async (file, expected) => {
    expect(await panels.colorsOf(file, world)).toEqual(expected);
  });
});

describe.each(EXPECTED_EMPTY)('the panels of the %s world', (world, expected) => {
  it.each(Object.entries(expected))('show data wherever there is some: %s', async (file, empty) => {
    expect(await panels.emptyPanels(file, world)).toEqual(empty);
  });
});

describe('the panels of a failing world', () => {
  it('show one row per process, although its target has further labels', async () => {
    const processes = (await panels.resultsOf('exporter.json', 'Processes', 'failing')).flat();
    const rows = new Set(processes.map(({ metric: { job, instance } }) => `${job} ${instance}`));
    expect(rows).toEqual(new Set(['failing a']));
    const labels = new Set(processes.flatMap(({ metric }) => Object.keys(metric)));
    expect(labels).toEqual(new Set(['job', 'instance', 'version', 'node_version']));
  });

  it('show the scrapes that time out, by their duration and as failed', async () => {
    const last = async (title: string) => {
      const [series = []] = await panels.resultsOf('exporter.json', title, 'failing');
      return Object.fromEntries(series.map(({ metric, values = [] }) => [metric['instance'], values.at(-1)?.[1]]));
    };
    expect(await last('Scrape duration')).toEqual({ a: '9.5', b: '10' });
    expect(await last('Scrapes succeeded')).toEqual({ a: '1', b: '0' });
  });

  it('list what fires, by name, type, station and time', async () => {
    const [rows = []] = await panels.resultsOf('station.json', 'Firing resources', 'failing');
    expect(rows.map(({ metric, value }) => ({ ...metric, since: Number(value[1]) }))).toMatchObject([
      { display_name: 'Web (1)', resource_type_label: 't0', station: 'old', since: 1000 * (NOW_S - 900) },
    ]);
    const [alerts = []] = await panels.resultsOf('fleet.json', 'Alerts', 'failing');
    expect(alerts.map(({ metric }) => [metric['alertname'], metric['alertstate']]).toSorted()).toEqual([
      ['TelemetryStationDown', 'firing'],
      ['TelemetryStationOverloaded', 'pending'],
      ['TelemetryStationResourceFiring', 'firing'],
    ]);
  });

  it.each(['Web (', 'web (1)', '(', 'Web (1)'])(
    'find the resource whose display name contains %j literally',
    async (display_name) => {
      const [rows = []] = await panels.resultsOf('resources.json', 'Inventory', 'failing', { display_name });
      expect(rows.map(({ metric }) => metric['resource_id'])).toEqual([FIRING_RESOURCE.resource_id]);
    },
  );

  it.each(['vision(', 'Web .1.', '.*', '[', '\\', '"', '+', '$', '{1}'])(
    'accept the search text %j and find nothing',
    async (display_name) => {
      const [rows] = await panels.resultsOf('resources.json', 'Inventory', 'failing', { display_name });
      expect(rows).toEqual([]);
    },
  );
});

describe('the panels of a healthy world', () => {
  it('show no negative age of the data, although a refresh succeeded after the scrape', async () => {
    expect(await panels.shownValue('fleet.json', 'Oldest data', 'healthy')).toBe(0);
  });

  it('name types by their labels, and those without by their keys', async () => {
    const [series = []] = await panels.resultsOf('fleet.json', 'Resources by type', 'healthy');
    expect(series.map(({ metric }) => metric['resource_type_label']).toSorted()).toEqual(['Type 1', 'Type 2', 't0']);
  });
});

describe('dashboards with 100,000 resources', () => {
  it('count resources without alert rules alike', async () => {
    const shown = await Promise.all([
      panels.shownValue('fleet.json', 'Without alert rules', 'large'),
      panels.shownValue('resources.json', 'Without alert rules', 'large'),
      panels.shownValue('resources.json', 'Matching, no rules', 'large'),
    ]);
    expect(shown).toEqual([5_000, 5_000, 5_000]);
  });

  it('list firing resources first', async () => {
    const [rows = []] = await panels.resultsOf('resources.json', 'Inventory', 'large');
    expect(rows).toHaveLength(200);
    expect(new Set(rows.map(({ metric }) => metric['state']))).toEqual(new Set(['ALERTSTATE_FIRING']));
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
