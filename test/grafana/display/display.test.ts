import { describe, expect, it } from 'vitest';
import { shippedPanels } from '../shipped-dashboards.ts';
import { type QueryResult, render } from './render.ts';

const panels = new Map(shippedPanels());

describe('panels without data', () => {
  it.each(shippedPanels('stat', 'table'))('show their text, in no color: %s', async (name, panel) => {
    expect(await render(panel, panel.targets?.map(() => []) ?? []), name).toEqual([
      [panel.fieldConfig?.defaults.noValue],
    ]);
  });
});

describe('stats', () => {
  it('show a count of 0 in no color, and a problem in red or orange', async () => {
    expect(await shown('fleet.json: Incomplete', [[{}, 0]])).toEqual([['0']]);
    expect(await shown('fleet.json: Incomplete', [[{}, 1]])).toEqual([['1 (dark-orange)']]);
    expect(await shown('fleet.json: Stations', [[{}, 0]], [[{}, 6]])).toEqual([['Failing: 0'], ['All: 6']]);
    expect(await shown('fleet.json: Stations', [[{}, 1]], [[{}, 6]])).toEqual([['Failing: 1 (red)'], ['All: 6']]);
    expect(await shown('fleet.json: Resources', [[{}, 3]], [[{}, 9000]])).toEqual([
      ['Firing: 3 (red)'],
      ['All: 9,000'],
    ]);
    expect(await shown('station.json: Unknown state', [[{}, 2]])).toEqual([['2 (blue)']]);
  });

  it('show in green only what is known to be well', async () => {
    expect(await shown('exporter.json: Exporters up', [[{}, 1]])).toEqual([['100% (green)']]);
    expect(await shown('exporter.json: Exporters up', [[{}, 0.5]])).toEqual([['50% (red)']]);
    expect(await shown('station.json: Listing', [[{}, 1]])).toEqual([['Complete']]);
    expect(await shown('station.json: Listing', [[{}, 0]])).toEqual([['Incomplete (dark-orange)']]);
    expect(await shown('fleet.json: Coverage', [[{}, 0.92]], [], [[{}, 0]])).toEqual([
      ['Covered: 92%'],
      ['Unknown: 0'],
    ]);
    expect(await shown('fleet.json: Coverage', [[{}, 0.664]], [[{}, 1]], [[{}, 84]])).toEqual([
      ['Covered: 66.4%'],
      ['At most: 100%'],
      ['Unknown: 84 (blue)'],
    ]);
  });

  it('show how old the data is, and a station that was never refreshed', async () => {
    expect(await shown('fleet.json: Oldest data', [[{}, 59]])).toEqual([['59 s']]);
    expect(await shown('fleet.json: Oldest data', [[{}, 1200]])).toEqual([['20 mins (red)']]);
    expect(await shown('fleet.json: Oldest data', [[{}, 1.8e9]])).toEqual([['Never (red)']]);
    expect(await shown('fleet.json: Exporters', [[{}, 0]], [[{}, 600]])).toEqual([
      ['Up: 0% (red)'],
      ['Last scrape: 10 mins (dark-orange)'],
    ]);
  });
});

describe('the table of all stations', () => {
  const station = (name: string) => ({ station: name, upstream: 'east', team: 'a' });

  it('has stations that fail alone first, then those of a failing upstream, those with firing resources, and the others by name', async () => {
    const rows = await shown(
      'fleet.json: All stations',
      [
        [station('calm-b'), 1],
        [station('calm-a'), 1],
        [station('firing'), 1],
        [{ ...station('all-down'), upstream: 'west' }, 0],
        [station('down'), -1],
      ],
      [
        [station('calm-a'), 5],
        [station('calm-b'), 6],
        [station('firing'), 7],
        [station('down'), 1.8e9],
      ],
      [
        [station('calm-a'), 1],
        [station('calm-b'), 0],
      ],
      [[{ station: 'calm-a' }, 0.5]],
      [[{ station: 'calm-a' }, 1000]],
      [
        [{ station: 'calm-a' }, 0],
        [{ station: 'calm-b' }, 0],
        [{ station: 'firing' }, 2],
        [{ station: 'down' }, 0],
      ],
      [],
      [
        [{ ...station('calm-b'), reason: 'Up' }, 1],
        [{ ...station('calm-a'), reason: 'Up' }, 1],
        [{ ...station('firing'), reason: 'Up' }, 1],
        [{ ...station('all-down'), upstream: 'west', reason: 'auth' }, 1],
        [{ ...station('down'), reason: 'network' }, 1],
      ],
    );
    expect(rows).toEqual([
      ['down', 'network (red)', 'Never (red)', '–', '–', '0', '–', '–', 'east', 'a'],
      ['all-down', 'auth (red)', '–', '–', '–', '–', '–', '–', 'west', 'a'],
      ['firing', 'Up (green)', '7 s', '–', '–', '2 (red)', '–', '–', 'east', 'a'],
      ['calm-a', 'Up (green)', '5 s', 'Complete', '1,000', '0', '–', '50%', 'east', 'a'],
      ['calm-b', 'Up (green)', '6 s', 'Incomplete (dark-orange)', '–', '0', '–', '–', 'east', 'a'],
    ]);
  });

  it('has the last known data in the same order while the exporter is down, and no column of refreshes', async () => {
    const rank: QueryResult = [
      [station('calm'), 1],
      [station('down'), -1],
    ];
    const age: QueryResult = [[station('calm'), 400]];
    const complete: QueryResult = [[station('calm'), 1]];
    const rows = await shown('fleet.json: All stations', rank, age, complete, [], [[station('calm'), 7]], [], [], []);
    expect(rows).toEqual([
      ['down', '–', '–', '–', '–', '–', '–', 'east', 'a'],
      ['calm', '7 mins (dark-orange)', 'Complete', '7', '–', '–', '–', 'east', 'a'],
    ]);
  });
});

describe('the table of alerts', () => {
  const alert = (name: string, severity: string, labels: Readonly<Record<string, string>>) => ({
    alertname: `TelemetryStation${name}`,
    severity,
    ...labels,
  });
  const stale = (station: string) => alert('DataStale', 'critical', { station, upstream: 'east' });

  it('has a row for each alert and upstream with its stations, their number and the beginning, causes first', async () => {
    const exporterDown = alert('ExporterDown', 'critical', { instance: 'a:1' });
    const upstreamDown = alert('UpstreamDown', 'critical', { upstream: 'east' });
    const down = alert('Down', 'warning', { station: 'b', upstream: 'west' });
    const absent = alert('ExporterAbsent', 'critical', {});
    const rows = await shown(
      'fleet.json: Alerts',
      [
        [{ ...down, alertstate: 'firing', where: 'west' }, 1],
        [{ ...stale('a'), alertstate: 'firing', where: 'east' }, 1],
        [{ ...stale('c'), alertstate: 'firing', where: 'east' }, 1],
        [{ ...upstreamDown, alertstate: 'firing', where: 'east' }, 1],
        [{ ...exporterDown, alertstate: 'firing', where: 'a:1' }, 1],
        [{ ...absent, alertstate: 'pending', where: '' }, 1],
      ],
      [
        [down, Date.UTC(2020, 0, 1)],
        [stale('a'), Date.UTC(2020, 0, 3)],
        [stale('c'), Date.UTC(2020, 0, 2)],
        [upstreamDown, Date.UTC(2020, 0, 4)],
        [exporterDown, Date.UTC(2020, 0, 5)],
        [absent, Date.UTC(2020, 0, 6)],
      ],
    );
    expect(rows).toEqual([
      ['ExporterDown', 'Firing (red)', 'critical (red)', 'a:1', '', '1', '2020-01-05 00:00:00'],
      ['UpstreamDown', 'Firing (red)', 'critical (red)', 'east', '', '1', '2020-01-04 00:00:00'],
      ['DataStale', 'Firing (red)', 'critical (red)', 'east', 'a, c', '2', '2020-01-02 00:00:00'],
      ['Down', 'Firing (red)', 'warning (dark-orange)', 'west', 'b', '1', '2020-01-01 00:00:00'],
      ['ExporterAbsent', 'Pending (dark-orange)', 'critical (red)', '', '', '1', '2020-01-06 00:00:00'],
    ]);
  });
});

describe('the table of types', () => {
  it('names types without what all of them begin with', async () => {
    const type = (name: string) => ({ resource_type: `resource_type.${name}` });
    const counted: QueryResult = [
      [type('network.vpc'), 3],
      [type('compute.vm'), 5],
    ];
    expect(await shown('fleet.json: Resources by type', counted, [], [], [])).toEqual([
      ['compute.vm', '5', '–', '–', '–'],
      ['network.vpc', '3', '–', '–', '–'],
    ]);
  });
});

/** With the default of the variable `owner`. */
function shown(name: string, ...results: readonly QueryResult[]) {
  const panel = JSON.stringify(panels.get(name) ?? expect.unreachable(name));
  return render(JSON.parse(panel.replaceAll('$owner', 'team')), results);
}
