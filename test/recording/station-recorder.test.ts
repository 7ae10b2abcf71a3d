import { describe, expect, it } from 'vitest';
import { recordingPieces, StationRecorder } from '../../src/recording/station-recorder.ts';
import { parseRecording, type Recording } from '../../src/simulator/recording.ts';
import { specOf } from '../stations/fixtures.ts';

const RECORDING: Recording = {
  version: 1,
  station: {
    subscription: 's',
    resource_group: 'g',
    zone: 'z',
    telemetry_station: 't',
    filters: {},
    products: ['product.a'],
    alertability: true,
  },
  listings: [
    {
      filters: {},
      pages: [
        { offset: 0, size: 2, page: { total: '3' }, resources: [{ resource_id: 'a' }, null] },
        { offset: 2, size: 2, page: null, resources: null },
      ],
    },
    { filters: { product: ['product.a'] }, pages: [{ offset: 0, size: 2, resources: [] }] },
  ],
};

/** What is recorded is asserted by test/e2e/recording.test.ts, which compares a service with its replay. */
describe('recordingPieces', () => {
  it('writes a file that parses back to the recording, a page per piece', () => {
    const pieces = [...recordingPieces(RECORDING)];
    expect(parseRecording(pieces.join(''))).toEqual({ ok: true, recording: RECORDING });
    expect(pieces.filter((piece) => piece.includes('"offset"'))).toHaveLength(3);
  });
});

describe('StationRecorder', () => {
  it('replaces the values of filters that may contain names, also of unknown ones', () => {
    const recorder = new StationRecorder();
    const { path } = specOf();
    const filters = { resource_type: 'type.a', resource_ids: ['secret-1'], owner_name: 'secret-2' };
    const body = Buffer.from('{"resources":[]}');
    recorder.add({ kind: 'resources', query: { path, filters }, offset: 0, size: 1, received: 0, total: 0, body });
    const [listing] = recorder.recording(specOf()).listings;
    expect(listing?.filters).toEqual({
      resource_type: ['type.a'],
      resource_ids: [expect.stringMatching(/^[a-z]{6}-\d$/)],
      owner_name: [expect.stringMatching(/^[a-z]{6}-\d$/)],
    });
    expect(JSON.stringify(listing)).not.toContain('secret');
  });
});
