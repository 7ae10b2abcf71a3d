import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { columnsOf, type ShippedPanel, shippedPanels } from '../shipped-dashboards.ts';
import { type RecordedResult, render, type Shown } from './render.ts';

const WORLDS = [
  'demo',
  'station-down',
  'exporter-down',
  'one-exporter-down',
  'unknown',
  'unknown-state',
  'rejected',
  'two-jobs',
  'two-clusters',
] as const;
type World = (typeof WORLDS)[number];

const panels = shippedPanels();

describe('the panels of all dashboards', () => {
  it.each(WORLDS)('show these cells and colors in the world %s', async (world) => {
    const shown = [...shownIn(world)].map(([name, { columns, rows }]) =>
      [`## ${name}`, ...[columns, ...rows].map((cells) => cells.join(' | '))].join('\n'),
    );
    await expect(`${shown.join('\n\n')}\n`).toMatchFileSnapshot(`cells/${world}.txt`);
  });

  it('show the stations of an exporter that is down as missing, with the time of their last refresh', () => {
    expect(stats('one-exporter-down', 'fleet.json', 'Exporters up', 'Stations', 'Missing', 'Failing')).toEqual([
      '50% (red)',
      '4',
      '2 (red)',
      'None known',
    ]);
    expect(cells('one-exporter-down', 'fleet.json: All stations', 'Station', 'Refresh', 'No data since')).toEqual([
      ['north', 'No data (red)', '2026-01-15 12:50:00'],
      ['south', 'No data (red)', '2026-01-15 12:50:00'],
      ['east', 'Up (green)', '–'],
      ['west', 'Up (green)', '–'],
    ]);
  });

  it.each(shippedPanels('stat', 'state-timeline'))('show no data in a neutral color: %s', (_, panel) => {
    const { rows } = render(panel, panel.targets?.map(() => [[{}, null]]) ?? []);
    expect(rows).toHaveLength(panel.targets?.length ?? 0);
    expect(rows.flat().filter((text) => /\(\S+\)$/.test(text))).toEqual([]);
  });

  it.each(shippedPanels('table'))('show an empty cell of a table as a dash: %s', (_, panel) => {
    const labels = columnsOf(panel).flatMap(([field]) => (field.startsWith('Value') ? [] : [[field, '']]));
    const { columns, rows } = render(panel, panel.targets?.map(() => [[Object.fromEntries(labels), null]]) ?? []);
    expect(columns).toHaveLength(columnsOf(panel).length);
    expect(new Set(rows.flat())).toEqual(new Set(['–']));
  });

  it('show nothing in green while the exporter is down', () => {
    expect(green('exporter-down')).toEqual([]);
    expect(stats('exporter-down', 'exporter.json', 'Slowest scrape', 'Configuration', 'Shards present')).toEqual([
      'A target cannot be scraped',
      'Unknown',
      '0% (red)',
    ]);
  });

  it('show the capacity of an upstream as unknown while its exporter is down, although it was enough minutes ago', () => {
    expect(cells('exporter-down', 'exporter.json: Capacity by upstream', 'Upstream', 'Capacity')).toEqual([
      ['main', 'Unknown'],
    ]);
    expect(cells('one-exporter-down', 'exporter.json: Capacity by upstream', 'Job', 'Capacity')).toEqual([
      ['exporter-down', 'Unknown'],
      ['demo', 'Enough (green)'],
    ]);
  });

  it('show an upstream that throttles as such, not as enough', () => {
    expect(cells('two-jobs', 'exporter.json: Capacity by upstream', 'Job', 'Capacity', 'Limit')).toEqual([
      ['two-jobs-a', 'Throttled (dark-orange)', '1.4 req/s'],
      ['two-jobs-b', 'Enough (green)', '–'],
    ]);
  });

  it('show the limit of one exporter beside another without a limit', () => {
    const limits = cells('two-jobs', 'exporter.json: Requests and rate limit', 'series', 'value');
    expect(limits.map(([name, value]) => [withoutColor(name), value])).toEqual([
      ['main: limit', '1.43'],
      ['main: requests', '2'],
    ]);
  });

  it('list alerts of stations before those of resources of the same severity, without the common beginning of their names', () => {
    expect(cells('station-down', 'fleet.json: Alerts', 'Alert', 'State', 'Severity', 'Resources')).toEqual([
      ['DataStale', 'Firing (red)', 'critical (red)', '–'],
      ['ApiThrottled', 'Firing (red)', 'warning (dark-orange)', '–'],
      ['Down', 'Firing (red)', 'warning (dark-orange)', '–'],
      ['ResourceFiring', 'Firing (red)', 'warning (dark-orange)', '26'],
      ['DataStale', 'Pending (dark-orange)', 'critical (red)', '–'],
      ['Overloaded', 'Pending (dark-orange)', 'warning (dark-orange)', '–'],
      ['ResourceFiring', 'Pending (dark-orange)', 'warning (dark-orange)', '9'],
    ]);
  });

  it('list no alerts of upstreams that a station does not use', () => {
    const upstreams = cells('station-down', 'station.json: Alerts', 'Upstream').flat();
    expect(upstreams.filter((upstream) => upstream !== '–')).toEqual(['main']);
  });

  it('have a column with the job of alerts only where jobs differ', () => {
    expect(shownIn('station-down').get('fleet.json: Alerts')?.columns).not.toContain('Job');
    expect(shownIn('two-jobs').get('fleet.json: Alerts')?.columns).toContain('Job');
  });

  it('show no firing resources of an owner as 0, or as unknown while a listing is incomplete', () => {
    expect(cells('demo', 'fleet.json: Resources by owner', 'Owner', 'Firing')).toEqual([
      ['storage', '0 (green)'],
      ['none', '0 (green)'],
    ]);
    expect(cells('one-exporter-down', 'fleet.json: Resources by owner', 'Owner', 'Firing')).toEqual([
      ['storage', 'None known'],
      ['none', 'None known'],
    ]);
  });

  it('show no coverage of a type without rules that is not known to be alertable in any station', () => {
    const shown = cells('demo', 'fleet.json: Coverage by type', 'Type', 'Without rules', 'Coverage');
    expect(shown.filter(([type]) => type === 'bucket0')).toEqual([['bucket0', '600', '–']]);
  });

  it('say how many stations a sum does not include', () => {
    expect(cells('one-exporter-down', 'fleet.json: Resources', 'Resources')).toEqual([
      ['Known: 1,240'],
      ['Stations missing: 2 (dark-orange)'],
    ]);
    expect(cells('one-exporter-down', 'fleet.json: Without alert rules', 'Without alert rules')).toEqual([
      ['Known: 600 (dark-orange)'],
      ['Stations missing: 2 (dark-orange)'],
    ]);
    expect(cells('demo', 'fleet.json: Resources', 'Resources')).toEqual([['1,240']]);
    expect(cells('exporter-down', 'fleet.json: Resources', 'Resources')).toEqual([['Not scraped or refreshed']]);
  });

  it('show what one of two exporters would say as unknown while it is down', () => {
    expect(stats('one-exporter-down', 'exporter.json', 'Slowest scrape', 'Configuration', 'Shards present')).toEqual([
      'A target cannot be scraped',
      'Unknown',
      '0% (red)',
    ]);
    expect(stats('one-exporter-down', 'fleet.json', 'Firing', 'Incomplete')).toEqual(['None known', 'None known']);
  });

  it('show nothing but the exporter in green while no station was refreshed', () => {
    const ofStations = green('unknown').filter((name) => !name.startsWith('exporter.json'));
    expect(ofStations).toEqual(['fleet.json: Exporters up', 'fleet.json: Missing']);
    expect(stats('unknown', 'fleet.json', 'Oldest data', 'Failing')).toEqual(['Never refreshed (red)', '2 (red)']);
  });

  it('show no firing resources as unknown while a listing is incomplete, and stations that were never refreshed as such', () => {
    expect(cells('station-down', 'fleet.json: All stations', 'Station', 'Firing', 'Listing')).toEqual([
      ['never', '–', '–'],
      ['old', '30 (red)', 'Complete (green)'],
      ['partial', 'None known', 'Incomplete (dark-orange)'],
    ]);
    expect(stats('station-down', 'fleet.json', 'Incomplete', 'Oldest data')).toEqual([
      '1 (dark-orange)',
      'Never refreshed (red)',
    ]);
  });

  it('show how many resources the coverage does not count, also of a type of which nothing is known', () => {
    expect(cells('station-down', 'fleet.json: Alert coverage', 'Alert coverage')).toEqual([
      ['Known: 88.9% (dark-orange)'],
      ['Unknown: 570 (dark-orange)'],
    ]);
    expect(cells('station-down', 'station.json: Coverage by type', 'Type', 'Coverage', 'Unknown')).toEqual([
      ['partial0', '0% (red)', '270 (dark-orange)'],
      ['t0', '93% (dark-orange)', '–'],
      ['Type 1', '93% (dark-orange)', '–'],
      ['Type 1', '–', '300 (dark-orange)'],
    ]);
  });

  it('show states of unknown meaning by name and not in green, and no firing resources as unknown beside them', () => {
    expect(stats('unknown-state', 'fleet.json', 'Firing', 'Unknown state')).toEqual(['None known', '7 (blue)']);
    expect(stats('unknown-state', 'station.json', 'Firing', 'Unknown state')).toEqual(['None known', '7 (blue)']);
    expect(cells('unknown-state', 'fleet.json: States of unknown meaning', 'Station', 'State', 'Resources')).toEqual([
      ['escalated', 'ALERTSTATE_ESCALATED', '7 (blue)'],
    ]);
    expect(cells('unknown-state', 'fleet.json: All stations', 'Station', 'Firing')).toEqual([
      ['escalated', 'None known'],
      ['fine', '0 (green)'],
    ]);
    expect(cells('unknown-state', 'resources.json: Inventory', 'Name', 'State')).toEqual([
      ['web', 'ALERTSTATE_ESCALATED'],
    ]);
    expect(cells('unknown-state', 'resources.json: Alert state over time', 'series')).toEqual([
      ['ALERTSTATE_ESCALATED (blue)'],
    ]);
  });

  it('show a listing that misses only rejected records as such, and neither it nor another as complete', () => {
    expect(cells('rejected', 'fleet.json: All stations', 'Station', 'Firing', 'Listing')).toEqual([
      ['both', 'None known', 'Incomplete (dark-orange)'],
      ['rejected', 'None known', 'Rejected (dark-orange)'],
    ]);
    expect(stats('rejected', 'fleet.json', 'Incomplete')).toEqual(['2 (dark-orange)']);
  });

  it('give the likely causes of missing data while the exporter is down, not a number of 0', () => {
    const texts = new Set([...shownIn('exporter-down').values()].flatMap(({ rows }) => rows.flat()));
    const withoutData = [...texts].filter((text) => / /.test(text) && !/\d|\(red\)|\(blue\)/.test(text));
    expect(withoutData.filter((text) => !/not scraped or refreshed/i.test(text)).toSorted()).toEqual([
      'A target cannot be scraped',
      'No alerts, or prometheus/rules.yml is not loaded',
      'No resource has the label $owner, see resource_labels',
      'No resource selected, or it has no data',
      'None known',
      'Scrape failed',
    ]);
  });

  it('show what fires in red everywhere', () => {
    const firing = [...shownIn('station-down')].flatMap(([name, { columns, rows }]) => {
      const column = columns.findIndex((title) => /^Firing$|, firing$/.test(title));
      return rows.map((row) => `${name}: ${row[column]}`).filter((text) => /: [1-9]/.test(text));
    });
    expect(firing.length).toBeGreaterThan(5);
    expect(firing.filter((text) => !text.endsWith('(red)'))).toEqual([]);
  });

  it.each(WORLDS)('show stations, types, upstreams and exporters in no color of a status: %s', (world) => {
    const isCategory = ({ type, targets = [] }: ShippedPanel) =>
      type === 'timeseries' &&
      !targets.some(({ legendFormat }) => /\{\{(state_label|alert_state|reason)\}\}/.test(`${legendFormat}`));
    const categories = new Set(panels.filter(([, panel]) => isCategory(panel)).map(([name]) => name));
    const shown = [...shownIn(world)].filter(([name]) => categories.has(name)).flatMap(([, { rows }]) => rows);
    expect(shown.flatMap(([series = '']) => /\(([^()]*)\)$/.exec(series)?.[1] ?? []).filter(isStatus)).toEqual([]);
  });

  it('tell stations of the same name in two jobs apart', () => {
    expect(panelsWithRepeatedNames('two-jobs')).toEqual([]);
    expect(cells('two-jobs', 'fleet.json: Data age', 'series').map(([name]) => withoutColor(name))).toEqual([
      'two-jobs-a',
      'two-jobs-a / prod',
      'two-jobs-b',
      'two-jobs-b / prod',
    ]);
  });

  it('tell clusters with the same job, station and resource apart, and add up nothing of both', () => {
    expect(panelsWithRepeatedNames('two-clusters')).toEqual([]);
    expect(cells('two-clusters', 'fleet.json: Resources', 'Resources')).toEqual([
      ['east: Known: 600'],
      ['west: Known: 90'],
    ]);
    expect(cells('two-clusters', 'fleet.json: Firing', 'Firing')).toEqual([['east: 60 (red)'], ['west: 0 (green)']]);
    expect(cells('two-clusters', 'fleet.json: Alert coverage', 'Alert coverage')).toEqual([
      ['east: Known: 99.0% (green)'],
      ['west: Known: 66.7% (dark-orange)'],
    ]);
    expect(cells('two-clusters', 'fleet.json: All stations', 'Station', 'Cluster', 'Resources', 'Firing')).toEqual([
      ['prod', 'east', '600', '60 (red)'],
      ['prod', 'west', '90', '0 (green)'],
    ]);
    expect(cells('two-clusters', 'fleet.json: Resources by state', 'series')).toEqual([
      ['east: firing (red)'],
      ['east: inactive (green)'],
      ['west: inactive (green)'],
    ]);
    expect(cells('two-clusters', 'resources.json: Inventory', 'Resource', 'Cluster', 'State', 'Rules')).toEqual([
      ['Web of east', 'east', 'Firing (red)', '2'],
      ['Web of west', 'west', 'Inactive (green)', '0'],
    ]);
    expect(
      cells(
        'two-clusters',
        'fleet.json: Expected and actual capacity',
        'Cluster',
        'Unit',
        'Expected',
        'Actual',
        'Missing',
      ),
    ).toEqual([
      ['east', 'GiB', '64', '0', '64 (dark-orange)'],
      ['west', 'GiB', '64', '0', '64 (dark-orange)'],
      ['east', 'GPU', '138', '128', '10 (dark-orange)'],
      ['west', 'GPU', '138', '128', '10 (dark-orange)'],
    ]);
    expect(cells('two-clusters', 'fleet.json: Cost per hour by owner', 'Cluster', 'Owner', 'Cost')).toEqual([
      ['east', 'storage', '150'],
      ['west', 'storage', '22.5'],
    ]);
    expect(cells('two-clusters', 'fleet.json: Listed, but not monitored', 'Cluster', 'Type', 'Resources')).toEqual([
      ['east', 'Type 1', '20 (dark-orange)'],
      ['west', 'Type 1', '3 (dark-orange)'],
    ]);
    expect(cells('two-clusters', 'fleet.json: Alerts', 'Alert', 'Cluster')).toEqual([
      ['ResourcesLost', 'west'],
      ['ManyResourcesFiring', 'east'],
    ]);
  });

  it('have no column and no name of a cluster where no series has one', () => {
    const shown = [...shownIn('two-jobs').values()];
    expect(shown.filter(({ columns }) => columns.includes('Cluster'))).toEqual([]);
  });
});

/** The panels in which two series or two rows cannot be told apart. */
function panelsWithRepeatedNames(world: World): string[] {
  const repeated = [...shownIn(world)].filter(([, { columns, rows }]) => {
    const names = rows.map((row) => (columns[0] === 'series' ? withoutColor(row[0]) : row.join(' | ')));
    return new Set(names).size < names.length;
  });
  return repeated.map(([name]) => name);
}

function withoutColor(text = ''): string {
  return text.replace(/ \(#?\w+\)$/, '');
}

/** What each panel shows, by dashboard and title. */
function shownIn(world: World): ReadonlyMap<string, Shown> {
  const lines = readFileSync(new URL(`results/${world}.ndjson`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  const recorded = new Map<string, RecordedResult[]>(
    lines.map((line) => JSON.parse(line)).map(([name, ...results]) => [name, results]),
  );
  return new Map(panels.map(([name, panel]) => [name, render(panel, recorded.get(name) ?? expect.unreachable(name))]));
}

function stats(world: World, file: string, ...titles: readonly string[]) {
  return titles.map((title) => cells(world, `${file}: ${title}`, title)[0]?.[0]);
}

function cells(world: World, name: string, ...titles: readonly string[]): string[][] {
  const { columns, rows } = shownIn(world).get(name) ?? expect.unreachable(name);
  return rows.map((row) => titles.map((title) => row[columns.indexOf(title)] ?? `no column ${title}`));
}

/** The panels with something green. */
function green(world: World): string[] {
  return [...shownIn(world)].flatMap(([name, { rows }]) =>
    rows.flat().some((cell) => /\(.*green\)/.test(cell)) ? [name] : [],
  );
}

/** Whether a color is a shade of red, orange, yellow or green. */
function isStatus(color: string): boolean {
  if (!color.startsWith('#')) return !['blue', 'purple'].includes(color);
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((index) => Number.parseInt(color.slice(index, index + 2), 16));
  // Cyan and pink have nearly as much blue as of the largest part.
  return blue < 0.7 * Math.max(red, green);
}
