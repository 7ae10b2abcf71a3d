import { onTestFinished } from 'vitest';
import { type SimulatedService, startSimulatedService } from '../../simulator/simulated-service.ts';
import { type RealExporter, startRealExporter, stationOf } from './real-exporter.ts';
import { Truth } from './truth.ts';

/** How often the truth changes. */
const CHANGES = 2;

interface MatrixEntry {
  /** Of the exporter's configuration. */
  readonly upstream: object;
  /** Further keys of the station. */
  readonly station?: object | undefined;
  /** What the page of the station says after it has failed. */
  readonly told?: RegExp | undefined;
}

/** One exporter with an upstream and a station per entry, and one service behind all of them: the verdicts by entry. */
export async function startMatrix(
  start: (service: SimulatedService) => Promise<readonly MatrixEntry[]>,
): Promise<readonly (readonly string[])[]> {
  const service = await startSimulatedService();
  onTestFinished(() => service.stop());
  const entries = await start(service);
  const names = entries.map((_, at) => `row-${at}`);
  const truth = new Truth(service, names);
  const upstreams = Object.fromEntries(entries.map(({ upstream }, at) => [names[at], upstream]));
  const exporter = await startRealExporter(
    upstreams,
    names.map((name, at) => stationOf(name, name, entries[at]?.station)),
  );
  const verdicts: string[][] = names.map(() => []);
  for (let change = 0; change < CHANGES; change += 1) {
    truth.change();
    const families = await exporter.scrape();
    names.forEach((name, at) => void verdicts[at]?.push(truth.verdict(families, name)));
  }
  for (const [at, { told }] of entries.entries()) {
    if (told !== undefined) verdicts[at]?.push(await toldBy(exporter, names[at] ?? '', told));
  }
  return verdicts;
}

/** `told`, or what the page of the station says instead. */
export async function toldBy({ pageOf }: RealExporter, station: string, words: RegExp): Promise<string> {
  const { attention } = await pageOf(station);
  return words.test(attention) ? 'told' : `not told: ${attention}`;
}
