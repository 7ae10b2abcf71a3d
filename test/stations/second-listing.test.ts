import { describe, expect, it } from 'vitest';
import { Exposition } from '../../src/exposition/exposition.ts';
import { optionalSample, stationFamilies } from '../../src/exposition/family.ts';
import { completenessRows } from '../../src/exposition/health-families.ts';
import { CompressorPool, storedSegment, TextBuffer } from '../../src/exposition/segment.ts';
import { writeStations } from '../../src/exposition/text-format.ts';
import type { Listing, ListingKind, StationSource } from '../../src/model/listing.ts';
import type { StationSpec } from '../../src/model/station-spec.ts';
import { isObject } from '../../src/model/values.ts';
import { ResourceCollector, type Resources } from '../../src/resources/collector.ts';
import { StationEncoder } from '../../src/resources/encoder.ts';
import { STATION_FAMILIES } from '../../src/resources/families.ts';
import { RequestFailure } from '../../src/service/request-failure.ts';
import { allOf, type MetricsKind, type StationCollector } from '../../src/stations/collector.ts';
import { StationCache } from '../../src/stations/station-cache.ts';
import { sourceOf } from '../service/support/listing-source.ts';
import { specOf } from './fixtures.ts';

/** An invented listing: the silenced alerts of a station. */
const SILENCES: ListingKind<string> = {
  name: 'silences',
  path: 'silences',
  field: 'silences',
  idField: 'silence_id',
  fields: [],
  read: (record) => {
    const id = isObject(record) ? record['silence_id'] : undefined;
    return typeof id === 'string' ? { row: id, id, invalid: [] } : undefined;
  },
};

const COMPLETENESS = completenessRows('telemetry_station_silences');

const SILENCE_FAMILIES = stationFamilies<{ readonly spec: StationSpec; readonly facts: Listing<string> }>()({
  telemetry_station_silences_complete: COMPLETENESS.complete,
  telemetry_station_silences_incomplete: COMPLETENESS.incomplete,
  telemetry_station_silences: {
    help: 'Silenced alerts.',
    exampleTitle: 'Silenced alerts by station',
    example: 'telemetry_station_silences',
    samples: ({ facts }) => optionalSample(facts.size),
  },
});

function silenceCollector(spec: StationSpec, source: StationSource): StationCollector<MetricsKind> {
  const list = source.lister(SILENCES);
  return {
    async collect(context) {
      const listing = await list({}, context);
      const buffer = new TextBuffer();
      writeStations(Object.values(SILENCE_FAMILIES), [{ spec, facts: listing }], buffer);
      const families = new Map(Array.from(buffer.texts(), ([family, text]) => [family, [storedSegment(text)]]));
      const repeated = [{ pages: listing.pages, intervalMs: spec.cache.ttlMs }];
      const served = { data: undefined, families, withheld: 0, repeated };
      return { served, report: undefined, commit: () => undefined };
    },
    adopt: () => undefined,
  };
}

/** A station of two resources that also has silences, and its exposition. */
function stationWith(silences: { list: readonly unknown[]; failure?: Error }) {
  const spec = specOf();
  const { source, requests } = sourceOf(({ path, offset, size }) => {
    if (path.includes('/resources?'))
      return { resources: [{ resource_id: 'a' }, { resource_id: 'b' }], page: { total: 2 } };
    if (silences.failure) throw silences.failure;
    const { list } = silences;
    return JSON.stringify({ silences: list.slice(offset, offset + size), page: { total: list.length } });
  });
  const encoder = new StationEncoder(spec, new CompressorPool(1));
  const resources = new ResourceCollector(spec, { source, encode: (publication) => encoder.encode(publication) });
  const collector = allOf(resources, [silenceCollector(spec, source)]);
  const cache = new StationCache<Resources>(spec, { collector });
  const families = [...Object.values(STATION_FAMILIES), ...Object.values(SILENCE_FAMILIES)];
  const exposition = new Exposition(families, new Set());
  const text = async () => {
    await cache.refresh();
    const chunks: Uint8Array[] = [];
    for await (const chunk of exposition.stationBody([cache.view()], 'text').plain()) chunks.push(chunk);
    return Buffer.concat(chunks).toString().split('\n');
  };
  return { requests, text };
}

const silencesOf = (count: number) => Array.from({ length: count }, (_, at) => ({ silence_id: `s${at}` }));

const LABELS = '{station="prod",upstream="main"';

describe('a second listing', () => {
  it('is read page by page, and published with its completeness beside the resources', async () => {
    const { requests, text } = stationWith({ list: silencesOf(25) });
    const lines = await text();
    expect(lines).toContain(`telemetry_station_silences${LABELS}} 25`);
    expect(lines).toContain(`telemetry_station_silences_complete${LABELS}} 1`);
    expect(lines).toContain(`telemetry_station_up${LABELS}} 1`);
    expect(lines).toContain(`telemetry_station_verified_resources${LABELS}} 2`);
    expect(requests.filter(({ path }) => path.includes('/silences?')).map(({ offset }) => offset)).toEqual([0, 10, 20]);
  });

  it('says which of its records are rejected', async () => {
    const { text } = stationWith({ list: [...silencesOf(3), { silence_id: 5 }] });
    const lines = await text();
    expect(lines).toContain(`telemetry_station_silences${LABELS}} 3`);
    expect(lines).toContain(`telemetry_station_silences_complete${LABELS}} 0`);
    expect(lines).toContain(`telemetry_station_silences_incomplete${LABELS},reason="rejected_records"} 1`);
    expect(lines).toContain(`telemetry_station_listing_complete${LABELS}} 1`);
  });

  it('keeps its last good data when it fails, with the station down', async () => {
    const silences: Parameters<typeof stationWith>[0] = { list: silencesOf(2) };
    const { text } = stationWith(silences);
    await text();
    silences.failure = new RequestFailure('status', 'HTTP 500', { status: 500 });
    const lines = await text();
    expect(lines).toContain(`telemetry_station_up${LABELS}} 0`);
    expect(lines).toContain(`telemetry_station_failure${LABELS},reason="status"} 1`);
    expect(lines).toContain(`telemetry_station_silences${LABELS}} 2`);
  });
});
