import { describe, expect, it } from 'vitest';
import { checkLive } from '../commands/check-live.ts';
import { parseExposition } from '../exposition/parse-exposition.ts';
import { eventually } from '../web/eventually.ts';
import { parseHtml } from '../web/html-parser.ts';
import { configOf, startTestExporter, startTestService, wireRecord } from './test-bed.ts';

/** Seven resources in a state that no words say, and one that is inactive. */
const RECORDS = Array.from({ length: 8 }, (_, index) => ({
  record: wireRecord(`r${index}`, { state: index < 7 ? 'ALERTSTATE_ESCALATED' : 'ALERTSTATE_INACTIVE' }),
}));

const STATES = { firing: ['ALERTSTATE_ESCALATED'] };

const WHAT_TO_DO = 'states: { firing: [], pending: [], inactive: [] }: "ALERTSTATE_ESCALATED"';

async function startEscalated() {
  const service = await startTestService({ source: () => RECORDS });
  const config = configOf(service.url, ['prod'], { cache: { ttl: '1h' } });
  const exporter = await startTestExporter(config);
  await eventually(() => expect(exporter.exporter.stations().every(({ up }) => up)).toBe(true));
  return {
    config,
    /** Adds the lists to the configuration. */
    reload: async () => {
      exporter.rewrite({ ...config, states: STATES });
      expect((await fetch(`${exporter.url}/-/reload`, { method: 'POST' })).status).toBe(200);
    },
    /** What each of them says. */
    shown: async () => {
      const get = async (path: string) => (await exporter.get(path)).text();
      const families = parseExposition(await (await exporter.get('/metrics')).text());
      const [station] = JSON.parse(await get('/?format=json'));
      const [header = '', row = ''] = (await get('/?format=csv')).split('\r\n');
      const page = await get('/');
      return {
        metric: (families.get('telemetry_station_resources')?.samples ?? []).map(({ labels, value }) => [
          labels['state'],
          labels['alert_state'],
          value,
        ]),
        json: [station.firing_resources, station.unknown_state_resources, station.unknown_states],
        csv: row.split(',')[header.split(',').indexOf('unknown_states')],
        tone: / class="summary (\w+)"/.exec(page)?.[1],
        page: parseHtml(page).text,
        stationPage: parseHtml(await get('/stations/prod')).text,
        listed: (await get('/stations/prod/resources?alert_state=firing&format=csv')).split('\r\n').length - 2,
      };
    },
  };
}

describe('resources in states that need a meaning', () => {
  it('are unknown everywhere when seven are ALERTSTATE_ESCALATED, and firing once a reload says what the state means', async () => {
    const { config, reload, shown } = await startEscalated();
    const before = await shown();
    expect(before).toMatchObject({
      metric: [
        ['ALERTSTATE_ESCALATED', 'unknown', 7],
        ['ALERTSTATE_INACTIVE', 'inactive', 1],
      ],
      json: [0, 7, 'ALERTSTATE_ESCALATED (7)'],
      csv: '"ALERTSTATE_ESCALATED (7)"',
      tone: 'unknown',
      listed: 0,
    });
    expect(before.page).toContain(
      '7 resources in states of unknown meaning, neither firing, pending nor inactive: ALERTSTATE_ESCALATED (7).',
    );
    expect(before.stationPage).toMatch(/7 resources in states of unknown meaning.*: ALERTSTATE_ESCALATED \(7\)\./);
    const { stdout } = await checkLive(config);
    for (const text of [before.page, before.stationPage, stdout.replaceAll(/\s+/g, ' ')])
      expect(text).toContain(WHAT_TO_DO);
    await reload();
    const after = await shown();
    expect(after).toMatchObject({
      metric: [
        ['ALERTSTATE_ESCALATED', 'firing', 7],
        ['ALERTSTATE_INACTIVE', 'inactive', 1],
      ],
      json: [7, 0, null],
      csv: '',
      tone: 'good',
      listed: 7,
    });
    for (const text of [after.page, after.stationPage]) expect(text).not.toContain('unknown meaning');
  });
});
