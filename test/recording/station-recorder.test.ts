import { describe, expect, it } from 'vitest';
import { StationRecorder } from '../../src/recording/station-recorder.ts';
import { specOf } from '../stations/fixtures.ts';

/** What is recorded is asserted by test/e2e/recording.test.ts, which compares a service with its replay. */
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

  it('keeps only the ids of further listings', () => {
    const recorder = new StationRecorder();
    const body = Buffer.from('{"resources":[{"resource_id":"7","state":"FIRING"}]}');
    const query = { path: specOf().path, filters: {} };
    recorder.add({ kind: 'ids', query, offset: 0, size: 1, received: 1, total: 1, body });
    const [listing] = recorder.recording(specOf()).listings;
    expect(listing?.pages[0]?.resources).toEqual([{ resource_id: expect.stringMatching(/^\d$/) }]);
  });
});
