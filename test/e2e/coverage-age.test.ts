import { beforeEach, describe, expect, it, vi } from 'vitest';
import { replyWith } from '../../lab/simulator/faults.ts';
import { checkLive } from '../commands/check-live.ts';
import { rowsOf, shown, textOf } from '../web/pages/opened-page.ts';
import { configOf, startReadyExporter, startTestService, wireRecord } from './test-bed.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 20);

/** Only the dates are virtual. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS });
  return () => vi.useRealTimers();
});

/** A resource that is so many days old. */
const aged = (id: string, days: number | undefined, alert_rules_count: unknown = 0) => ({
  record: wireRecord(id, {
    alert_rules_count,
    create_time: days === undefined ? undefined : new Date(NOW_MS - days * DAY_MS).toISOString(),
    resource_type: { key: `resource_type.compute.${id[1]}`, label: '' },
  }),
});

const RECORDS = {
  'ts-1': [aged('ax1', 6), aged('ax2', 6.5), aged('ay3', 30, 2), aged('by4', 8), aged('ay-exempt', 90)],
  'ts-2': [aged('cx1', undefined), aged('cx2', -1), aged('bx3', 20), aged('by5', 9, null)],
};

const LABELS = [
  ...['a', 'b', 'c'].map((team) => ({ match: { resource_id: `${team}.*` }, labels: { team } })),
  { match: { resource_id: '.*exempt' }, alertable: false },
];

async function start(within?: string) {
  const service = await startTestService({
    source: ({ telemetry_station }) => RECORDS[telemetry_station as keyof typeof RECORDS],
    faults: { broken: [replyWith(403)] },
  });
  const config = {
    ...configOf(service.url, ['ts-1', 'ts-2', 'broken'], { labels: LABELS }),
    ...(within !== undefined && { coverage: { within } }),
  };
  const exporter = await startReadyExporter(config);
  const textAt = async (path: string, accept = '*/*') => (await exporter.get(path, { accept })).text();
  const overdue = async () => {
    const samples = (await exporter.scrape()).get('telemetry_station_overdue_resources')?.samples ?? [];
    return samples.filter(({ value }) => value > 0).map(({ labels, value }) => [labels['team'], value]);
  };
  return { config, ...exporter, textAt, overdue };
}

const COLUMNS = ['Overdue', 'Oldest', 'Not covered', 'Unknown age', 'Unknown', 'Covered', 'Exempt'];

describe('coverage with an age', () => {
  it('counts a resource as overdue with the first refresh after its time has come, although the listing is the same', async () => {
    const { overdue } = await start('7d');
    const before = [
      ['b', 1],
      ['b', 1],
    ];
    expect(await overdue()).toEqual(before);
    vi.setSystemTime(NOW_MS + 0.5 * DAY_MS);
    expect(await overdue()).toEqual(before);
    vi.setSystemTime(NOW_MS + 0.5 * DAY_MS + 1);
    expect(await overdue()).toEqual([['a', 1], ...before]);
    vi.setSystemTime(NOW_MS + 1.1 * DAY_MS);
    expect(await overdue()).toEqual([['a', 2], ...before]);
    vi.setSystemTime(NOW_MS);
    expect(await overdue()).toEqual(before);
  });

  it('has a page by owner, type and station, the most overdue first, with links to the lists', async () => {
    const { textAt } = await start('7d');
    const page = await textAt('/coverage', 'text/html');
    expect(textOf(page, 'content')).toContain('older than coverage.within (7 d).');
    expect(rowsOf(page, 'by-team', ['Team', ...COLUMNS])).toEqual([
      'b 2 20 d ago 2 0 1 0 0',
      'a 0 6 d 12 h ago 2 0 0 1 1',
      'c 0 just now 2 1 0 0 0',
    ]);
    expect(rowsOf(page, 'by-type', ['Type', ...COLUMNS])).toEqual(['x 1 20 d ago 5 1 0 0 0', 'y 1 8 d ago 1 0 1 1 1']);
    expect(rowsOf(page, 'by-station', ['Station', ...COLUMNS])).toEqual([
      'ts-1 1 8 d ago 3 0 0 1 1',
      'ts-2 1 20 d ago 3 1 1 0 0',
      'broken – no data – none – no data – no data – no data – no data – no data',
    ]);
    const { hrefs } = shown(page);
    const [, path = ''] =
      hrefs.find((href) => href.includes('team=b') && href.includes('sort=created'))?.split('.') ?? [];
    expect(textOf(await textAt(path, 'text/html'), 'result')).toMatch(/^2 resources of 2 stations match/);
    expect(shown(await textAt('/', 'text/html')).hrefs).toContain('./coverage');
    expect(textOf(await textAt('/', 'text/html'), 'totals')).toContain('2 overdue');
  });

  it('has the same as JSON and CSV', async () => {
    const { textAt } = await start('7d');
    const rows = JSON.parse(await textAt('/coverage?format=json'));
    expect(rows.map(({ label, value }: Record<string, string>) => `${label}=${value}`)).toEqual([
      ...['b', 'a', 'c'].map((team) => `team=${team}`),
      'resource_type=resource_type.compute.x',
      'resource_type=resource_type.compute.y',
      ...['ts-1', 'ts-2', 'broken'].map((station) => `station=${station}`),
    ]);
    expect(rows[1]).toMatchObject({
      resources: 4,
      resources_with_alert_rules: 1,
      resources_without_alert_rules: 2,
      resources_with_unknown_alert_coverage: 0,
      exempt_resources: 1,
      overdue_resources: 0,
      uncovered_resources_with_unknown_age: 0,
      oldest_uncovered_created: '2026-01-13T12:00:00.000Z',
    });
    expect(rows.at(-1)).toMatchObject({ resources: null, overdue_resources: null, exempt_resources: null });
    const [heading = '', first = ''] = (await textAt('/coverage?format=csv')).split('\r\n');
    expect(heading.split(',')).toEqual(Object.keys(rows[0]));
    expect(first).toBe(
      Object.values(rows[0])
        .map((value) => JSON.stringify(value ?? undefined) ?? '')
        .join(','),
    );
  });

  it('knows no overdue resources without coverage.within, but since when they have not been covered', async () => {
    const { textAt, scrape } = await start();
    expect((await scrape()).has('telemetry_station_overdue_resources')).toBe(false);
    const page = await textAt('/coverage', 'text/html');
    expect(textOf(page, 'content')).toContain('(not configured)');
    expect(rowsOf(page, 'by-team', ['Team', ...COLUMNS])).toContain('b 20 d ago 2 0 1 0 0');
    expect(textOf(await textAt('/', 'text/html'), 'totals')).toContain('by owner and type');
  });

  it('is a gate for pipelines, by owner', async () => {
    const { config } = await start();
    const gate = async (age: string, ...flags: string[]) => {
      const { code, stdout } = await checkLive(
        { ...config, stations: config.stations.slice(0, 2) },
        `--max-uncovered-age=${age}`,
        ...flags,
      );
      return { code, failures: stdout.match(/^failure: .*/gm) ?? [], stdout };
    };
    expect(await gate('7d', '--label=team=a')).toMatchObject({ code: 0, failures: [] });
    const young = await gate('6d', '--label=team=a');
    expect(young).toMatchObject({
      code: 1,
      failures: ['failure: the oldest resource with team=a without alert rules is 6 d 12 h old, expected at most 6 d'],
    });
    expect(young.stdout.indexOf('ax2')).toBeLessThan(young.stdout.indexOf('ax1'));
    expect(await gate('7d', '--label=team=c')).toMatchObject({
      code: 1,
      failures: [
        'failure: the age of 1 resource with team=c without alert rules is unknown: create_time is not reported',
      ],
    });
    expect((await gate('30d', '--label=team=b')).failures).toEqual([
      expect.stringContaining('coverage of ts-2 is unknown: alert rules of 1 resource'),
    ]);
  });
});
