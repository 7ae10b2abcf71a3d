import { describe, expect, it } from 'vitest';
import { recordingPieces } from '../../src/recording/station-recorder.ts';
import { parseRecording, type Recording } from '../../src/simulator/recording.ts';

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
