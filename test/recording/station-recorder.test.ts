import { describe, expect, it } from 'vitest';
import type { ListingFilters } from '../../src/model/listing.ts';
import { ResourceLabels } from '../../src/model/resource-labels.ts';
import type { StationSpec } from '../../src/model/station-spec.ts';
import { Pseudonyms } from '../../src/recording/anonymous-record.ts';
import { recordingPieces, StationRecorder } from '../../src/recording/station-recorder.ts';
import { parseRecording } from '../../src/simulator/recording.ts';
import type { ListedPage } from '../../src/upstream/http/observer.ts';

const pseudonyms = new Pseudonyms();
const anonymous = (text: string) => pseudonyms.of(text);

const spec: StationSpec = {
  name: 'prod',
  upstream: 'main',
  path: { subscription: 'sub', resourceGroup: 'group', zone: 'zone', telemetryStation: 'station' },
  filters: {},
  products: ['product.a'],
  alertability: true,
  cache: { ttlMs: 0, maxStaleMs: 0, errorTtlMs: 0, refresh: 'scrape' },
  labelValues: 1000,
  maxChanges: 1000,
  metrics: { perResource: true, maxResources: 100_000, disabled: new Set() },
  refreshTimeoutMs: 1,
  labels: { team: 'secret' },
  resourceLabels: new ResourceLabels(),
};

function page(
  offset: number,
  envelope: unknown,
  changes: { rows?: ListedPage['rows']; filters?: ListingFilters; size?: number } = {},
): ListedPage {
  const { rows = 'resources', filters = {}, size = 2 } = changes;
  const body = Buffer.from(JSON.stringify(envelope));
  return { rows, query: { path: spec.path, filters }, offset, size, received: 0, total: undefined, body };
}

const ids = (...names: string[]) => ({ resources: names.map((resource_id) => ({ resource_id })) });

describe('StationRecorder', () => {
  it('records the pages of each listing by offset, the main listing first', () => {
    const recorder = new StationRecorder(pseudonyms);
    recorder.add(page(0, ids('a'), { rows: 'ids', filters: { enabledAlert: true } }));
    recorder.add(page(0, ids('a', 'b')));
    recorder.add(page(4, ids('e')));
    recorder.add(page(2, ids('c', 'd')));
    const { listings } = recorder.recording(spec);
    expect(listings.map(({ filters, pages }) => [filters, pages.map(({ offset }) => offset)])).toEqual([
      [{}, [0, 2, 4]],
      [{ enabled_alert: ['true'] }, [0]],
    ]);
  });

  it('records the page object as received, also when it is missing', () => {
    const recorder = new StationRecorder(pseudonyms);
    recorder.add(page(0, { resources: null, page: null }));
    recorder.add(page(2, { resources: [], page: { total: '3' } }));
    recorder.add(page(4, { resources: [] }));
    expect(recorder.recording(spec).listings[0]?.pages).toEqual([
      { offset: 0, size: 2, page: null, resources: null },
      { offset: 2, size: 2, page: { total: '3' }, resources: [] },
      { offset: 4, size: 2, resources: [] },
    ]);
  });

  it('anonymizes filters that hold names', () => {
    const recorder = new StationRecorder(pseudonyms);
    const filters = {
      resourceIds: ['a', 'b'],
      resourceType: 'resource_type.x',
      resourceTypes: ['resource_type.y'],
      product: 'product.a',
      displayNamePrefix: 'web-',
      enabledAlert: false,
    };
    recorder.add(page(0, ids('a'), { filters }));
    const recorded = {
      resource_ids: [anonymous('a'), anonymous('b')],
      resource_type: ['resource_type.x'],
      resource_types: ['resource_type.y'],
      product: ['product.a'],
      resource_display_name_prefix: [anonymous('web-')],
    };
    const { station, listings } = recorder.recording({ ...spec, filters });
    expect([station.filters, listings[0]?.filters]).toEqual([recorded, recorded]);
  });
});

describe('recordingPieces', () => {
  it('writes a file that parses back to the recording, a page per piece', () => {
    const recorder = new StationRecorder();
    recorder.add(page(0, ids('a', 'b')));
    recorder.add(page(2, { resources: null, page: null }));
    recorder.add(page(0, ids('a'), { rows: 'ids', filters: { product: 'product.a' } }));
    const recording = recorder.recording(spec);
    const pieces = [...recordingPieces(recording)];
    expect(parseRecording(pieces.join(''))).toEqual({ ok: true, recording });
    expect(pieces.filter((piece) => piece.includes('"offset"'))).toHaveLength(3);
  });
});
