import { describe, expect, it } from 'vitest';
import { type Fault, NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import type { SourceEntry } from '../../lab/simulator/listing.ts';
import { checkLive } from '../commands/check-live.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { rowsOf, textOf } from '../web/pages/opened-page.ts';
import { configFlag, resultOf } from './running-program.ts';
import { configOf, type RunningExporter, startReadyExporter, startTestService, wireRecord } from './test-bed.ts';

/** 250 resources, 84 of them without alert rules; 12 have another state than the rest. */
const ENTRIES: readonly SourceEntry[] = Array.from({ length: 250 }, (_, index) => ({
  record: wireRecord(`r${index}`, {
    alert_rules_count: index % 3,
    ...(index < 12 && { state: 'ALERTSTATE_FIRING' }),
  }),
}));

/** The zero of the enumeration of states is left out too. */
const NO_INACTIVE: Fault = {
  listing: ({ records }) => ({
    records: records.map((record) => {
      const { state, ...others } = record as ReturnType<typeof wireRecord>;
      return state === 'ALERTSTATE_INACTIVE' ? others : record;
    }),
  }),
};

const ABSENT_RULES = '84 of 250 records have no alert_rules_count, and none has 0: the service may leave zeros out.';

/** Where the coverage is to be seen, and what it says there. */
async function coverageIn({ get, scrape }: RunningExporter, config: object) {
  const bodyOf = async (path: string) => (await get(path)).text();
  const families = await scrape();
  const family = (name: string) => Object.values(valuesOf(families, `telemetry_station_${name}`));
  const [station] = JSON.parse(await bodyOf('/?format=json'));
  const [names = '', row = ''] = (await bodyOf('/?format=csv')).split('\r\n');
  const status = await bodyOf('/');
  const listed = await resultOf(['list', 'n250', '--without-rules', '--format=json', configFlag(config)]);
  const gate = await checkLive(config, '--min-coverage=0.7');
  const words = (text: string) => text.replaceAll(/\s+/g, ' ');
  return {
    metrics: ['with_alert_rules', 'without_alert_rules', 'with_unknown_alert_coverage'].flatMap((name) =>
      family(`resources_${name}`),
    ),
    json: station.alert_coverage,
    csv: row.split(',')[names.split(',').indexOf('alert_coverage')],
    tile: /Coverage(.*?)(?=by owner|Listing|Oldest|$)/.exec(textOf(status, 'totals'))?.[1]?.trim(),
    row: rowsOf(status, 'stations')[0],
    attention: words(textOf(status, 'attention')),
    list: [listed.code, JSON.parse(listed.stdout).length, words(listed.stderr).trim()],
    check: words(gate.stdout),
    gate: words(gate.stdout)
      .split(' failure: ')
      .slice(1)
      .map((text) => text.replace(/ Without .*/, '').trim()),
  };
}

describe('the number of alert rules of resources', () => {
  it('is unknown everywhere where the service leaves out zeros, and exact after a reload that says so', async () => {
    const service = await startTestService({
      source: () => ENTRIES,
      faults: { '*': [NAMED_FAULTS.omitted_zeros] },
    });
    const config = (upstream: object) =>
      configOf(service.url, ['n250'], { cache: { ttl: '1h' }, upstream: { page_size: 100, ...upstream } });
    const exporter = await startReadyExporter(config({}));
    const unknown = await coverageIn(exporter, config({}));
    expect(unknown).toMatchObject({
      metrics: [166, 0, 84],
      json: null,
      csv: '',
      tile: '66–100 % 84 unknown',
      row: expect.stringContaining('66–100 % 84 unknown'),
      attention: expect.stringContaining(`${ABSENT_RULES} What to do: If the console of the service shows`),
      list: [2, 0, 'warning: alert coverage unknown for 84 resources, not printed'],
      check: expect.stringContaining(ABSENT_RULES),
      gate: [
        'coverage of n250 is unknown: alert rules of 84 resources, or whether they can have alerts, are not reported',
        'coverage is 0.664 to 1, expected at least 0.7: 166 of 250 resources have alert rules, unknown for 84',
      ],
    });
    expect(unknown.attention).toContain('set absent_fields: { alert_rules_count: 0 } in the upstream main');

    const absent_fields = { alert_rules_count: 0 };
    exporter.rewrite(config({ absent_fields }));
    expect(await exporter.exporter.reload()).toEqual([]);
    const exact = await coverageIn(exporter, config({ absent_fields }));
    expect(exact).toMatchObject({
      metrics: [166, 84, 0],
      json: 0.664,
      csv: '0.664',
      tile: '66 %',
      row: expect.stringContaining('66 %'),
      attention: '',
      list: [0, 84, ''],
      check: expect.not.stringContaining('alert_rules_count'),
      gate: ['coverage is 0.664, expected at least 0.7: 166 of 250 resources have alert rules'],
    });

    exporter.rewrite(config({}));
    expect(await exporter.exporter.reload()).toEqual([]);
    const again = valuesOf(await exporter.scrape(), 'telemetry_station_resources_with_unknown_alert_coverage');
    expect(Object.values(again)).toEqual([84]);
  });

  it('needs no attention where records have a 0, or null', async () => {
    const records = [0, undefined, null, 3].map((count, at) => wireRecord(`r${at}`, { alert_rules_count: count }));
    const service = await startTestService({ source: () => records.map((record) => ({ record })) });
    const pageOf = async (shown: number) => {
      service.setRecords(
        'ts',
        records.slice(shown).map((record) => ({ record })),
      );
      const { get } = await startReadyExporter(configOf(service.url, ['ts']));
      return textOf(await (await get('/')).text(), 'attention');
    };
    expect(await pageOf(0)).toBe('');
    expect(await pageOf(2)).toBe('');
    expect(await pageOf(1)).toContain('1 of 3 records have no alert_rules_count');
  });
});

describe('the state of resources', () => {
  it('is unknown where the service leaves out a state, and known after a reload, which counts no change', async () => {
    const service = await startTestService({ source: () => ENTRIES, faults: { '*': [NO_INACTIVE] } });
    const config = (upstream: object) =>
      configOf(service.url, ['n250'], { cache: { ttl: '1h' }, upstream: { page_size: 100, ...upstream } });
    const { scrape, get, rewrite, exporter } = await startReadyExporter(config({}));
    const states = async () => valuesOf(await scrape(), 'telemetry_station_listing_resources', 'alert_state');
    expect(await states()).toEqual({ firing: 12, pending: 0, inactive: 0, unknown: 238 });
    expect(textOf(await (await get('/')).text(), 'attention')).toContain(
      'set absent_fields: { state: … } in the upstream',
    );
    // The second value corrects the first.
    for (const state of ['INACTIVE', 'ALERTSTATE_INACTIVE']) {
      rewrite(config({ absent_fields: { state } }));
      expect(await exporter.reload()).toEqual([]);
      expect(await states()).toEqual({ firing: 12, pending: 0, inactive: 238, unknown: 0 });
    }
    const changes = valuesOf(await scrape(), 'telemetry_station_resource_state_changes_total', 'alert_state');
    expect(Object.values(changes).filter((count) => count > 0)).toEqual([]);
  });
});
