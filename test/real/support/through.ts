import { setTimeout as after } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { valuesOf } from '../../exposition/parse-exposition.ts';
import {
  type ServiceOptions,
  type SimulatedService,
  startSimulatedService,
} from '../../simulator/simulated-service.ts';
import { toldBy } from './matrix.ts';
import { startRealExporter, stationOf } from './real-exporter.ts';
import { Truth } from './truth.ts';

const STATIONS = ['north', 'south'];

/** How long the short interruptions last that must not cost a refresh. */
const INTERRUPTION_MS = 1500;

interface ThroughOptions {
  readonly stations?: readonly string[];
  /** Of the exporter, beside `base_url`. */
  readonly upstream?: object;
  readonly service?: ServiceOptions;
}

/** The exporter, which reaches a service with a known truth through what `start` starts; `start` resolves with its URL. */
export async function startThrough(
  start: (service: SimulatedService) => Promise<string>,
  { stations = STATIONS, upstream = {}, service: options = {} }: ThroughOptions = {},
) {
  const service = await startSimulatedService(options);
  onTestFinished(() => service.stop());
  const truth = new Truth(service, stations);
  const base_url = await start(service);
  const exporter = await startRealExporter(
    { main: { base_url, ...upstream } },
    stations.map((name) => stationOf(name)),
  );

  /** On one scrape, of all stations. */
  async function scraped(): Promise<string[]> {
    const families = await exporter.scrape();
    return stations.map((station) => truth.verdict(families, station));
  }

  /** After the latest truth is published: every refresh that failed, and a request rate that is still limited. */
  async function leftBehind(): Promise<string[]> {
    const isCurrent = async () => truth.isCurrent(await exporter.scrape());
    const isNeverCurrent = await expect
      .poll(isCurrent, { interval: 100 })
      .toBe(true)
      .then(
        () => false,
        () => true,
      );
    const failed = await Promise.all(stations.map((station) => exporter.failedRefreshes(station)));
    const limits = valuesOf(await exporter.scrape(), 'telemetry_station_exporter_api_rate_limit', 'upstream');
    const limit = limits['main'] ?? Number.NaN;
    return [
      ...(isNeverCurrent ? ['never current'] : []),
      ...failed.flat().map((reason) => `lost refresh: ${reason}`),
      ...(limit === Number.POSITIVE_INFINITY ? [] : ['limited rate']),
    ];
  }

  return {
    service,
    truth,
    exporter,
    scraped,
    /** The verdicts on as many scrapes, before each of which the truth changes, and on what these leave behind. */
    async follow(changes: number, beforeEach: () => unknown = () => undefined): Promise<string[]> {
      const verdicts: string[] = [];
      for (let count = 0; count < changes; count += 1) {
        await beforeEach();
        truth.change();
        verdicts.push(...(await scraped()));
      }
      return [...verdicts, ...(await leftBehind())];
    },
    /** The same when each scrape is at the beginning of a short interruption. */
    async followThrough(changes: number, begin: () => unknown, end: () => unknown): Promise<string[]> {
      const verdicts: string[] = [];
      for (let count = 0; count < changes; count += 1) {
        truth.change();
        await begin();
        const ended = after(INTERRUPTION_MS).then(end);
        verdicts.push(...(await scraped()));
        await ended;
      }
      return [...verdicts, ...(await leftBehind())];
    },
    /** How the stations are marked, and whether the page of the first one says these words. */
    told: async (words: RegExp) => [...(await scraped()), await toldBy(exporter, stations[0] ?? '', words)],
    /** What the page of the first one says of the cache that answered. */
    cacheNote: async () => {
      const { text } = await exporter.pageOf(stations[0] ?? '');
      return /The replies come from a cache \([^)]*\)/.exec(text)?.[0] ?? 'not told';
    },
  };
}
