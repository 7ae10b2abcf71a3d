import { describe, expect, it } from 'vitest';
import { DATA_FIELDS, REJECTED_FIELDS, STATION_COLUMNS } from '../../src/status/station-columns.ts';
import { fieldsOf } from '../../src/text/records.ts';
import { SNAPSHOT, STATION, withRejected } from '../web/fake-station.ts';

describe('DATA_FIELDS', () => {
  it('are null of a station without data, never false or 0', () => {
    const context = { status: { ...STATION, snapshot: undefined }, nowMs: 0 };
    expect(Object.values(fieldsOf(DATA_FIELDS, context))).toEqual([null, null, null, null, null]);
  });
});

describe('STATION_COLUMNS', () => {
  it('are null, not 0, where every record was rejected', () => {
    const rejecting = { ...STATION, snapshot: { ...SNAPSHOT, ...withRejected(5) } };
    expect(fieldsOf(STATION_COLUMNS, rejecting)).toMatchObject({
      resources: null,
      firing_resources: null,
      pending_resources: null,
      unknown_state_resources: null,
      listing_rejected_resources: 5,
    });
    expect(fieldsOf(STATION_COLUMNS, { ...STATION, snapshot: SNAPSHOT })).toMatchObject({ resources: 0 });
  });
});

describe('REJECTED_FIELDS', () => {
  it('are empty where nothing of a record could be read', () => {
    expect(fieldsOf(REJECTED_FIELDS, { position: 4, rejection: 'not an object', texts: {} })).toEqual({
      position: 4,
      reason: 'not an object',
      name: '',
      display_name: '',
      resource_type: '',
    });
  });
});
