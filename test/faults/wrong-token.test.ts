import { describe, expect, it } from 'vitest';
import { expectedState, stateOf } from '../e2e/station-metrics.ts';
import { entriesOf, type RunningExporter, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { contentOf, shown, textOf } from '../web/pages/opened-page.ts';

const NAMES = Array.from({ length: 40 }, (_, index) => `ts-${index}`);

/** Every value that has a default has it. */
const configWith = (url: string, credentials: string) => ({
  upstreams: { main: { base_url: url, authorization: { credentials } } },
  stations: NAMES.map((name) => ({
    subscription: 'sub',
    resource_group: 'rg',
    zone: 'z1',
    telemetry_station: name,
  })),
});

const startService = () =>
  startTestService({ source: () => entriesOf(3), auth: { authorization: { credentials: 'right' } } });

const statusOf = async ({ get }: RunningExporter) => (await get('/', { accept: 'text/html' })).text();

const warningsOf = ({ log }: RunningExporter) => log.filter((line) => line.includes('level=warn'));

/** What the exporter says of a cause that all stations have in common. */
async function expectOneCause(exporter: RunningExporter, port: string): Promise<void> {
  const families = await exporter.scrape();
  for (const name of NAMES) expect(stateOf(families, name)).toEqual(expectedState('auth'));
  expect(valuesOf(families, 'telemetry_station_last_success_timestamp_seconds', 'station')).toEqual(
    Object.fromEntries(NAMES.map((name) => [name, 0])),
  );
  expect(families.has('telemetry_station_resources')).toBe(false);
  const message = `127.0.0.1:${port} answered 401 Unauthorized: Invalid authentication credentials`;
  const page = await statusOf(exporter);
  expect(textOf(page, 'summary')).toMatch(
    /^0 of 40 stations up; 40 stations of upstream main: 401 Unauthorized since /,
  );
  const attention = shown(contentOf(page, 'attention')).text;
  expect(attention).toMatch(/^Needs attention 1 40 stations main since .* No refresh has succeeded yet\./);
  expect(attention.split(message)).toHaveLength(2);
  const [warning, ...others] = warningsOf(exporter);
  expect(warning).toContain(`, and 35 more" reason=auth error="${message}"`);
  expect(warning).toContain(' msg="refresh failed" upstream=main stations=40 first_stations=');
  expect(others).toEqual([]);
  expect(exporter.log.join('')).not.toContain('wrong');
}

describe('Exporter, when it starts with a wrong token', () => {
  it('states the cause once for 40 stations, also after a restart, and recovers after a reload with the right one', async () => {
    const service = await startService();
    const { port } = new URL(service.url);
    const first = await startReadyExporter(configWith(service.url, 'wrong'));
    await expectOneCause(first, port);
    await first.stop();
    const second = await startReadyExporter(configWith(service.url, 'wrong'));
    await expectOneCause(second, port);

    second.log.length = 0;
    second.rewrite(configWith(service.url, 'right'));
    expect(await second.exporter.reload()).toEqual([]);
    const families = await second.scrape();
    for (const name of NAMES) expect(stateOf(families, name)).toEqual(expectedState(undefined));
    expect(textOf(await statusOf(second), 'summary')).toBe('40 of 40 stations up');
    expect(warningsOf(second)).toEqual([]);
    expect(second.log.filter((line) => line.includes('level=info msg="station recovered"'))).toHaveLength(1);
  });
});
