import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, replyWith } from '../../lab/simulator/faults.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { listen } from '../service/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { contentOf, shown } from '../web/pages/opened-page.ts';
import {
  configOf,
  entriesOf,
  startReadyExporter,
  startTestExporter,
  startTestService,
  wireRecord,
} from './test-bed.ts';

/** No refresh except those caused by a reload. */
const LONG_TTL = { cache: { ttl: '1h', error_ttl: '1h' } };

const EMPTY = '{"resources": [], "page": {"total": 0}}';

const startService = () => startTestService({ source: () => entriesOf(3) });

async function startServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  // Only the exporter closes connections.
  server.keepAliveTimeout = 600_000;
  return `http://127.0.0.1:${await listen(server)}`;
}

/** An exporter after its first refreshes. */
async function started(config: object) {
  const exporter = await startReadyExporter(config);
  return {
    ...exporter,
    reload: async (changed: object) => {
      exporter.rewrite(changed);
      expect(await exporter.exporter.reload()).toEqual([]);
    },
    values: async (family: string, label = 'station') =>
      valuesOf(await exporter.scrape(), `telemetry_station_${family}`, label),
  };
}

describe('the warnings of a configuration', () => {
  it('are in the log at start', async () => {
    const upstream = { authorization: { credentials_file: '/nowhere/token' } };
    const { log } = await startTestExporter(configOf('https://service.test', ['a'], { upstream, ...LONG_TTL }));
    const warnings = log.filter((line) => line.includes('msg="configuration warning"'));
    expect(warnings).toEqual([expect.stringMatching(/level=warn .*credentials_file: \/nowhere\/token cannot be read/)]);
  });
});

describe('a reload', () => {
  it('keeps the data of unchanged stations, refreshes only added ones, and ends the series of removed stations and upstreams', async () => {
    const service = await startService();
    const withUpstream = { station: { upstream: 'main' }, ...LONG_TTL };
    const config = configOf(service.url, ['a', 'b'], withUpstream);
    const upstreams = { ...config.upstreams, former: config.upstreams.main };
    const { reload, values, get } = await started({ ...config, upstreams });
    const upstreamsWithSeries = async () => Object.keys(await values('exporter_api_requests_in_flight', 'upstream'));
    expect(await upstreamsWithSeries()).toEqual(['main', 'former']);
    const linesOfA = async () => {
      const metrics = await (await get('/metrics')).text();
      return metrics.split('\n').filter((line) => /^telemetry_station_(?!exporter).*station="a"/.test(line));
    };
    const before = await linesOfA();
    expect(before.length).toBeGreaterThan(10);
    service.clearRequests();
    await reload(configOf(service.url, ['a', 'c'], withUpstream));
    await eventually(async () => expect(await values('up')).toEqual({ a: 1, c: 1 }));
    expect(await linesOfA()).toEqual(before);
    expect(service.requests.map(({ station }) => station)).toEqual(['c']);
    expect((await get('/probe?station=b')).status).toBe(404);
    expect(Object.keys(await values('exporter_series_withheld'))).toEqual(['a', 'c']);
    expect(await upstreamsWithSeries()).toEqual(['main']);
  });

  it('queries the new service, serves the data of the old one until it has an answer, and closes its connections, when base_url changes', async () => {
    const sockets = new Set<Socket>();
    const old = await startServer(({ socket }, response) => {
      sockets.add(socket);
      response.end(EMPTY);
    });
    const { reload, values } = await started(configOf(old, ['a'], LONG_TTL));
    expect(await values('listing_pages')).toEqual({ a: 1 });
    expect([...sockets]).toMatchObject([{ destroyed: false }]);
    const other = await startTestService({ faults: { '*': [replyWith(500)] } });
    await reload(configOf(other.url, ['a'], LONG_TTL));
    await eventually(async () => expect(await values('failure', 'reason')).toMatchObject({ status: 1 }));
    expect(await values('listing_pages')).toEqual({ a: 1 });
    await eventually(() => expect([...sockets]).toMatchObject([{ destroyed: true }]));
  });

  it('holds what fired while listings do not add up, but nothing of another service', async () => {
    const fired = [{ record: wireRecord('fired', { state: 'ALERTSTATE_FIRING' }) }];
    const [service, other] = [await startTestService({ source: () => fired }), await startService()];
    const { reload, values } = await started(configOf(service.url, ['a'], LONG_TTL));
    service.setRecords('a', entriesOf(3));
    for (const { setFaults } of [service, other]) setFaults('a', [NAMED_FAULTS.wrong_total]);
    const change = (url: string) => reload(configOf(url, ['a'], { ...LONG_TTL, upstream: { timeout: '9s' } }));
    await change(service.url);
    await eventually(async () => expect(await values('listing_complete')).toEqual({ a: 0 }));
    expect(await values('resource_firing', 'resource_id')).toEqual({ fired: 1 });
    await change(other.url);
    await eventually(async () => expect(await values('resource_firing', 'resource_id')).toEqual({}));
    expect(await values('listing_complete')).toEqual({ a: 0 });
  });
});

describe('the pages after a reload', () => {
  const LABELS = [{ match: { name: '.*' }, labels: { team: 'web' } }];

  const contentText = async (page: Response) => shown(contentOf(await page.text(), 'content')).text;

  /** One resource has no alert rules. */
  const startWithoutRules = () =>
    startTestService({ source: () => [...entriesOf(2), { record: wireRecord('bare', { alert_rules_count: 0 }) }] });

  it('claim nothing of products, alertability and labels that were configured since the last success', async () => {
    const service = await startWithoutRules();
    const { reload, get, scrape } = await started(configOf(service.url, ['a']));
    service.setFaults('a', [replyWith(500)]);
    const station = { products: ['p'], alertability: true };
    await reload(configOf(service.url, ['a'], { station, labels: LABELS }));
    await scrape();
    const textOf = async (path: string) => contentText(await get(path, { accept: 'text/html' }));
    const resource = await textOf('/stations/a/resources/bare');
    expect(resource).toContain('before the reload. Coveragenot covered by alert rules');
    expect(resource).not.toContain('Product');
    const page = await textOf('/stations/a?without_rules=yes');
    expect(page).toContain('Coverage66 % Listingcompletein 1 request, before the reload');
    expect(page).toContain('Display bare');
    expect(page).not.toContain('Team');
    const { resources, before_reload } = await (await get('/stations/a/resources?without_rules=yes')).json();
    expect(resources).toMatchObject([{ resource_id: 'bare' }]);
    expect(before_reload).toBe(true);
    const { total } = await (await get('/search?without_rules=yes&format=json')).json();
    expect(total).toBe(1);
    expect(await textOf('/')).toContain('Labels and products of 1 station are those before the reload.');
    expect(await textOf('/')).not.toContain('Resources by team');
  });
});
