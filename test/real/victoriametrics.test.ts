import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { replyWith } from '../../lab/simulator/faults.ts';
import { shortenedRules } from '../prometheus/live/shortened-rules.ts';
import { FAULTY, shippedConfig, startRefreshedDemo } from '../prometheus/live/stack.ts';
import { eventually, MINUTES } from '../web/eventually.ts';
import { startTool } from './support/tool.ts';
import { describeWorlds, type Tool } from './support/worlds.ts';

const FROM = 'module of scripts/tools/victoriametrics';
const VICTORIA_METRICS: Tool = { command: 'victoria-metrics', from: FROM };
const VMAGENT: Tool = { command: 'vmagent', from: FROM };
const VMALERT: Tool = { command: 'vmalert', from: FROM };

/** Its tests end what they start. */
async function startDemo() {
  const { demo, exporter, stop } = await startRefreshedDemo();
  onTestFinished(stop);
  return { demo, exporter };
}

/** Scrapes an exporter every second, with a configuration of ours, of which it ignores `rule_files` and `alerting`. */
function scraping(tool: Tool, exporterUrl: string, file: string, ...flags: readonly string[]) {
  return startTool(tool, {
    files: { 'prometheus.yml': shippedConfig(file, new URL(exporterUrl).host, 1) },
    flags: (folder, address) => [
      `-promscrape.config=${join(folder, 'prometheus.yml')}`,
      '-promscrape.config.strictParse=false',
      `-httpListenAddr=${address}`,
      ...flags.map((flag) => flag.replace('FOLDER', folder)),
    ],
  });
}

/** Queries see samples at once. */
async function startVictoriaMetrics(exporterUrl: string, file: string) {
  const flags = ['-storageDataPath=FOLDER/data', '-search.latencyOffset=0s'];
  const { url } = await scraping(VICTORIA_METRICS, exporterUrl, file, ...flags);
  /** The values by station. */
  const query = async (expression: string): Promise<Record<string, number>> => {
    const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expression })}`);
    const { data } = (await response.json()) as {
      data: { result: { metric: Readonly<Record<string, string>>; value: readonly [number, string] }[] };
    };
    return Object.fromEntries(data.result.map(({ metric, value }) => [metric['station'] ?? '', Number(value[1])]));
  };
  return { url, query };
}

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly endsAt: string;
}

/** Receives alerts as Alertmanager does. */
async function startNotifier() {
  const statesOf = new Map<string, 'firing' | 'resolved'>();
  const server = createServer(async (request, response) => {
    for (const { labels, endsAt } of (await json(request)) as Alert[])
      statesOf.set(
        `${labels['alertname']} ${labels['station']}`,
        Date.parse(endsAt) > Date.now() ? 'firing' : 'resolved',
      );
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, statesOf };
}

interface Target {
  readonly health: string;
  readonly lastError: string;
}

describeWorlds(
  'VictoriaMetrics',
  [VICTORIA_METRICS, VMAGENT, VMALERT],
  [
    ...['prometheus.yml', 'prometheus-http-sd.yml'].map((file) => ({
      world: `scrapes with ${file}`,
      promise: 'it has every resource of every station',
      publishes: /^\d+ resources$/,
      run: async () => {
        const { demo, exporter } = await startDemo();
        const expected = Object.fromEntries(Array.from(demo.fleets, ([name, fleet]) => [name, fleet.length]));
        const { query } = await startVictoriaMetrics(exporter.url, file);
        const resources = 'sum by (station) (telemetry_station_resources{job="telemetry-station-exporter"})';
        await eventually(async () => expect(await query(resources)).toEqual(expected), MINUTES);
        return Object.values(expected).map((count) => `${count} resources`);
      },
    })),
    {
      world: 'vmalert with rules.yml, and a station that fails for some time',
      promise: 'every rule is evaluated, and TelemetryStationDown fires and resolves',
      publishes: /^(\d\d rules: ok|firing|resolved)$/,
      run: async () => {
        const { demo, exporter } = await startDemo();
        const { url } = await startVictoriaMetrics(exporter.url, 'prometheus.yml');
        const notifier = await startNotifier();
        const vmalert = await startTool(VMALERT, {
          // Queries see a sample up to two seconds late, and a range of five minutes must have it.
          files: { 'rules.yml': shortenedRules(1.5) },
          flags: (folder, address) => [
            `-rule=${join(folder, 'rules.yml')}`,
            `-datasource.url=${url}`,
            `-remoteWrite.url=${url}`,
            '-remoteWrite.flushInterval=100ms',
            '-rule.evalDelay=0s',
            `-notifier.url=${notifier.url}`,
            `-httpListenAddr=${address}`,
          ],
        });
        const state = () => notifier.statesOf.get(`TelemetryStationDown ${FAULTY}`);
        demo.setFaults(FAULTY, [replyWith(503)]);
        await eventually(() => expect(state()).toBe('firing'), MINUTES);
        demo.setFaults(FAULTY, []);
        await eventually(() => expect(state()).toBe('resolved'), MINUTES);
        const response = await fetch(`${vmalert.url}/api/v1/rules`);
        const { data } = (await response.json()) as { data: { groups: { rules: { health: string }[] }[] } };
        const health = data.groups.flatMap(({ rules }) => rules.map((rule) => rule.health));
        return [`${health.length} rules: ${[...new Set(health)]}`, 'firing', 'resolved'];
      },
    },
    {
      world: 'vmagent, whose limit is between the compressed and the plain bytes of a scrape',
      promise: 'the scrape fails, because plain bytes count',
      publishes: /exceeds -promscrape.maxScrapeSize/,
      run: async () => {
        const { exporter } = await startDemo();
        const lengths = await Promise.all(
          ['gzip', 'identity'].map(async (encoding) => {
            const response = await exporter.get('/metrics', { 'accept-encoding': encoding });
            await response.arrayBuffer();
            return Number(response.headers.get('content-length'));
          }),
        );
        const limit = Math.round(lengths.reduce((sum, length) => sum + length) / 2);
        const { url } = await scraping(
          VMAGENT,
          exporter.url,
          'prometheus.yml',
          `-promscrape.maxScrapeSize=${limit}`,
          '-remoteWrite.url=http://127.0.0.1:1/',
          '-remoteWrite.tmpDataPath=FOLDER/queue',
        );
        return eventually(async () => {
          const response = await fetch(`${url}/api/v1/targets`);
          const { data } = (await response.json()) as { data: { activeTargets: Target[] } };
          const errors = data.activeTargets.map(({ lastError }) => lastError);
          expect(errors.join('')).not.toBe('');
          return errors;
        }, MINUTES);
      },
    },
  ],
);
