import { describe, expect, it } from 'vitest';
import { recordingPieces } from '../../src/recording/station-recorder.ts';
import { parseRecording } from '../../src/simulator/recording.ts';
import { RECORDING } from '../simulator/recorded.ts';

/** What is recorded is asserted by test/e2e/recording.test.ts, which compares a service with its replay. */
describe('recordingPieces', () => {
  it('writes a file that parses back to the recording, a page per piece', () => {
    const pieces = [...recordingPieces(RECORDING)];
    expect(parseRecording(pieces.join(''))).toEqual({ recording: RECORDING });
    expect(pieces.filter((piece) => piece.includes('"offset"'))).toHaveLength(3);
  });
});
