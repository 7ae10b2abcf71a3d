import { Body } from '../../src/metrics/body.ts';
import { storedSegment } from '../../src/metrics/segment.ts';
import type { ExporterPort, StationStatus } from '../../src/web/port.ts';

export const STATION: StationStatus = {
  name: 'prod',
  upstream: 'main',
  telemetryStation: 'ts-1',
  up: true,
  failure: undefined,
  lastSuccessMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  lastAttemptMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  durationMs: 250,
  dueInMs: 30_000,
  isRefreshing: false,
  refresh: 'scrape',
  snapshot: { resources: 42, complete: true, pages: 3, alertable: undefined, withoutRules: 7 },
};

export function bodyOf(...texts: readonly (string | Buffer)[]): Body {
  return new Body(texts.map((text) => storedSegment(Buffer.from(text))));
}

/** An exporter of one station whose exposition tells what was asked for. */
export function fakeExporter(overrides: Partial<ExporterPort> = {}): ExporterPort {
  return {
    stations: () => [STATION],
    station: () => undefined,
    select: async () => [],
    linesOf: () => '',
    scrape: async (format, station) => bodyOf(`# ${format}\n`, `# ${station ?? 'all'}\n`),
    ready: () => true,
    reload: async () => [],
    configuration: () => 'stations: []\n',
    ...overrides,
  };
}
