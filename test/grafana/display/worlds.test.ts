import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { columnsOf, type ShippedPanel, shippedPanels } from '../shipped-dashboards.ts';
import { type RecordedResult, render, type Shown } from './render.ts';

/** The worlds of test/prometheus/live, with what their cells must show whatever else changes in them. */
const WORLDS = {
  demo: 'no firing resources are 0, and a type that is not known to be alertable has no coverage',
  'station-down': 'alerts of stations come first, and what is unknown of a listing or of coverage is not 0',
  'exporter-down': 'nothing is green, and a capacity that was enough minutes ago is unknown',
  'one-exporter-down': 'its stations are missing since their last refresh, and sums say how many they do not include',
  unknown: 'nothing of a station is green before its first refresh',
  'unknown-state': 'states of unknown meaning have their names, and no firing resources beside them are unknown',
  rejected: 'a listing that misses only rejected records says so, and is not complete',
  'two-jobs': 'stations of the same name are told apart, and the upstream that throttles shows its limit',
  'two-clusters': 'the same job, station and resource are told apart, and nothing of both is added up',
} as const;
type World = keyof typeof WORLDS;
const worlds = Object.keys(WORLDS) as World[];

const panels = shippedPanels();

describe('the panels of all dashboards', () => {
  it.each(Object.entries(WORLDS) as [World, string][])(
    'show these cells and colors in the world %s: %s',
    async (world) => {
      const shown = [...shownIn(world)].map(([name, { columns, rows }]) =>
        [`## ${name}`, ...[columns, ...rows].map((cells) => cells.join(' | '))].join('\n'),
      );
      await expect(`${shown.join('\n\n')}\n`).toMatchFileSnapshot(`cells/${world}.txt`);
    },
  );

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
  });

  it('show nothing but the exporter in green while no station was refreshed', () => {
    const ofStations = green('unknown').filter((name) => !name.startsWith('exporter.json'));
    expect(ofStations).toEqual(['fleet.json: Exporters up', 'fleet.json: Missing']);
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

  it('show what fires in red everywhere', () => {
    const firing = [...shownIn('station-down')].flatMap(([name, { columns, rows }]) => {
      const column = columns.findIndex((title) => /^Firing$|, firing$/.test(title));
      return rows.map((row) => `${name}: ${row[column]}`).filter((text) => /: [1-9]/.test(text));
    });
    expect(firing.length).toBeGreaterThan(5);
    expect(firing.filter((text) => !text.endsWith('(red)'))).toEqual([]);
  });

  it.each(worlds)('show stations, types, upstreams and exporters in no color of a status: %s', (world) => {
    const isCategory = ({ type, targets = [] }: ShippedPanel) =>
      type === 'timeseries' &&
      !targets.some(({ legendFormat }) => /\{\{(state_label|alert_state|reason)\}\}/.test(`${legendFormat}`));
    const categories = new Set(panels.filter(([, panel]) => isCategory(panel)).map(([name]) => name));
    const shown = [...shownIn(world)].filter(([name]) => categories.has(name)).flatMap(([, { rows }]) => rows);
    expect(shown.flatMap(([series = '']) => /\(([^()]*)\)$/.exec(series)?.[1] ?? []).filter(isStatus)).toEqual([]);
  });

  it.each(['two-jobs', 'two-clusters'] as const)('have no two series or rows of the same name: %s', (world) => {
    const repeated = [...shownIn(world)].filter(([, { columns, rows }]) => {
      const names = rows.map((row) => (columns[0] === 'series' ? withoutColor(row[0]) : row.join(' | ')));
      return new Set(names).size < names.length;
    });
    expect(repeated.map(([name]) => name)).toEqual([]);
  });
});

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
