import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import type { SourceEntry } from '../../lab/simulator/listing.ts';
import { checkLive } from '../commands/check-live.ts';
import type { ParsedFamily } from '../exposition/parse-exposition.ts';
import type { TestFault } from '../simulator/simulated-service.ts';
import { rowsOf, textOf } from '../web/pages/opened-page.ts';
import { configFlag, resultOf } from './running-program.ts';
import { configOf, startReadyExporter, startTestService, wireRecord } from './test-bed.ts';

interface World {
  readonly entries: readonly SourceEntry[];
  readonly alertability: boolean;
  /** The ids of the resources that are exempt. */
  readonly exempt?: string;
  /** Resources that can have alerts and are not exempt; null: unknown for all of them. */
  readonly alertable: number | null;
  /** Resources with rules, without rules, and of which too little is known; null: unknown. */
  readonly counts: readonly [withRules: number | null, withoutRules: number | null, unknown: number];
  /** The types for which the numbers of resources with and without rules are published. */
  readonly types: readonly string[];
  readonly share: number | null;
  /** What the pages show. */
  readonly text: string;
}

const entry = (id: string, alert_rules_count: unknown, alertable = false): SourceEntry => ({
  record: wireRecord(id, { alert_rules_count, resource_type: { key: `type.${id[0]}`, label: '' } }),
  alertable,
});
const several = (count: number, prefix: string, rules: unknown, alertable?: boolean) =>
  Array.from({ length: count }, (_, index) => entry(`${prefix}${index}`, rules, alertable));

const WORLDS: Readonly<Record<string, World>> = {
  'an incomplete listing of the alertable resources': {
    entries: [...several(2, 'a', 1, true), entry('b', 0, true), entry('c', undefined, true), ...several(3, 'd', 5)],
    alertability: true,
    alertable: 4,
    counts: [2, 1, 4],
    types: ['type.a', 'type.b'],
    share: null,
    text: '28–85 % 4 unknown',
  },
  'no number of rules of any resource': {
    entries: [...several(2, 'a', undefined, true), entry('b', 'many')],
    alertability: true,
    alertable: 2,
    counts: [null, null, 3],
    types: [],
    share: null,
    text: '– alert rules are not reported',
  },
  'exempt resources, and nothing else that says which are alertable': {
    entries: [...several(3, 'a', 2), ...several(2, 'az', 0), ...several(4, 'e', 0), entry('a', 'many')],
    alertability: false,
    exempt: 'a1|az0|e.*',
    alertable: 4,
    counts: [2, 1, 1],
    types: ['type.a', 'type.e'],
    share: null,
    text: '50–75 % 1 unknown',
  },
  'exempt resources beside a listing of the alertable ones': {
    entries: [
      ...several(3, 'a', 2, true),
      ...several(4, 'b', 0, true),
      ...several(3, 'c', 0),
      entry('d', 'many', true),
    ],
    alertability: true,
    exempt: 'b[0-2]|c.*|d',
    alertable: 4,
    counts: [3, 1, 0],
    types: ['type.a', 'type.b', 'type.c', 'type.d'],
    share: 0.75,
    text: '75 %',
  },
};

/** Makes the listing of the alertable resources incomplete, and no other. */
const MISSING_ALERTABLE: TestFault = {
  ...NAMED_FAULTS.wrong_total,
  when: ({ filters }) => 'enabled_alert' in filters,
};

const FIELDS = [
  'resources_with_alert_rules',
  'resources_without_alert_rules',
  'resources_with_unknown_alert_coverage',
] as const;

describe('the numbers of the coverage', () => {
  it.each(Object.entries(WORLDS))('are the same everywhere with %s', async (_, world) => {
    const service = await startTestService({ source: () => world.entries, faults: { ts: [MISSING_ALERTABLE] } });
    const config = configOf(service.url, ['ts'], {
      station: { alertability: world.alertability },
      cache: { ttl: '1h' },
      labels: [
        ...(world.exempt === undefined ? [] : [{ match: { resource_id: world.exempt }, alertable: false }]),
        { match: { resource_id: '.*' }, labels: { team: 'all' } },
      ],
    });
    const { get, scrape } = await startReadyExporter(config);
    const bodyOf = async (path: string) => (await get(path)).text();
    const jsonOf = async (path: string) => JSON.parse(await bodyOf(path));
    const families = await scrape();
    const numbers = [...world.counts, world.share];
    const numbersOf = (row: Record<string, unknown>) => [...FIELDS, 'alert_coverage'].map((name) => row[name]);

    expect(FIELDS.map((name) => sumOf(families, name))).toEqual(world.counts);
    for (const name of ['resources_with_alert_rules', 'resources_without_alert_rules'])
      expect(samplesOf(families, name).map(({ labels }) => labels['resource_type'])).toEqual(world.types);
    const all = world.counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    expect(sumOf(families, 'coverable_resources')).toBe(all);
    expect(sumOf(families, 'alertable_resources')).toBe(world.alertable);
    const station = await jsonOf('/stations/ts?format=json');
    expect(numbersOf(station)).toEqual(numbers);
    expect(station.alertable_resources).toBe(world.alertable);
    const filtered = await jsonOf('/stations/ts/resources?without_rules=yes&format=json');
    expect(filtered.resources).toHaveLength(world.counts[1] ?? 0);
    expect(station.resource_labels.map(numbersOf)).toEqual([numbers]);
    expect((await jsonOf('/?format=json')).map(numbersOf)).toEqual([numbers]);
    const [names = '', row = ''] = (await bodyOf('/?format=csv')).split('\r\n');
    const cells = Object.fromEntries(names.split(',').map((name, index) => [name, row.split(',')[index]]));
    expect(numbersOf(cells)).toEqual(numbers.map((number) => `${number ?? ''}`));

    const status = await bodyOf('/');
    expect(textOf(status, 'totals')).toContain(`Coverage${world.text}`);
    expect(rowsOf(status, 'stations')[0]).toContain(` ${world.text} `);
    expect(rowsOf(status, 'owners-team')[0]).toMatch(new RegExp(` ${world.text}$`));
    expect(textOf(await bodyOf('/stations/ts'), 'status')).toContain(`Coverage${world.text} `);

    const listed = await resultOf(['list', 'ts', '--without-rules', '--format=json', configFlag(config)]);
    expect(JSON.parse(listed.stdout)).toHaveLength(world.counts[1] ?? 0);
    const unknown = /^warning: alert coverage unknown for (\d+) resources?, not printed$/m.exec(listed.stderr)?.[1];
    expect(Number(unknown ?? 0)).toBe(world.counts[2]);
    const checked = await checkLive(config, '--min-coverage=0');
    expect(checked.code).toBe(1);
    expect(checked.stdout).toContain('failure: coverage of ts is unknown: ');
  });
});

function samplesOf(families: Map<string, ParsedFamily>, name: string): ParsedFamily['samples'] {
  return families.get(`telemetry_station_${name}`)?.samples ?? [];
}

/** null without any sample. */
function sumOf(families: Map<string, ParsedFamily>, name: string): number | null {
  return samplesOf(families, name).reduce<number | null>((sum, { value }) => (sum ?? 0) + value, null);
}
