import { describe, expect, it } from 'vitest';
import { checkLive } from '../commands/check-live.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { parseHtml } from '../web/html-parser.ts';
import { configOf, startReadyExporter, startTestService, wireRecord } from './test-bed.ts';

/** Seven resources in a state that no words say, and one that is inactive. */
const RECORDS = Array.from({ length: 8 }, (_, index) => ({
  record: wireRecord(`r${index}`, { state: index < 7 ? 'ALERTSTATE_ESCALATED' : 'ALERTSTATE_INACTIVE' }),
}));

const WHAT_TO_DO = 'states: { firing: [], pending: [], inactive: [] }: "ALERTSTATE_ESCALATED"';

describe('resources in states that need a meaning', () => {
  it('are unknown everywhere when seven are ALERTSTATE_ESCALATED, and firing once a reload says what the state means', async () => {
    const service = await startTestService({ source: () => RECORDS });
    const config = configOf(service.url, ['prod'], { cache: { ttl: '1h' } });
    const { get, scrape, rewrite, exporter } = await startReadyExporter(config);
    const numbers = async () => {
      const metric = valuesOf(await scrape(), 'telemetry_station_resources', 'state', 'alert_state');
      const [station] = await (await get('/?format=json')).json();
      return { metric, json: [station.firing_resources, station.unknown_state_resources, station.unknown_states] };
    };
    expect(await numbers()).toEqual({
      metric: { 'ALERTSTATE_ESCALATED|unknown': 7, 'ALERTSTATE_INACTIVE|inactive': 1 },
      json: [0, 7, 'ALERTSTATE_ESCALATED (7)'],
    });
    const page = parseHtml(await (await get('/', { Accept: 'text/html' })).text()).text;
    const { stdout } = await checkLive(config);
    for (const text of [page, stdout.replaceAll(/\s+/g, ' ')]) expect(text).toContain(WHAT_TO_DO);
    rewrite({ ...config, states: { firing: ['ALERTSTATE_ESCALATED'] } });
    expect(await exporter.reload()).toEqual([]);
    expect(await numbers()).toEqual({
      metric: { 'ALERTSTATE_ESCALATED|firing': 7, 'ALERTSTATE_INACTIVE|inactive': 1 },
      json: [7, 0, null],
    });
  });
});
