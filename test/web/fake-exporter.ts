import { Body } from '../../src/exposition/exposition.ts';
import { storedSegment } from '../../src/exposition/segment.ts';
import type { ExporterPort } from '../../src/web/port.ts';
import { resourceOf } from '../stations/fixtures.ts';
import { detailOf, exporterOf } from './fake-station.ts';

export function bodyOf(...texts: readonly (string | Buffer)[]): Body {
  return new Body(texts.map((text) => storedSegment(Buffer.from(text))));
}

/** An exporter of one station with one resource; its exposition names the requested format and station. */
export function fakeExporter(overrides: Partial<ExporterPort> = {}): ExporterPort {
  return {
    ...exporterOf(detailOf([resourceOf('a')])),
    scrape: async (format, station) => bodyOf(`# ${format}\n`, `# ${station ?? 'all'}\n`),
    scrapeSize: () => undefined,
    started: Promise.resolve(),
    isSharded: false,
    scrapeOwn: async (format) => bodyOf(`# ${format}\n`, '# own\n'),
    ready: () => true,
    reload: async () => [],
    rejectedReload: () => undefined,
    removedStations: () => undefined,
    rejectedWebReload: () => undefined,
    configuration: () => 'stations: []\n',
    configurationFile: () => ({ file: 'config.yaml', loadedMs: 0 }),
    ...overrides,
  };
}
