import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../../src/inventory/records.ts';
import { DATA_FIELDS, OUTAGE_FIELDS } from '../../src/inventory/station-columns.ts';
import { STATION } from '../web/fake-station.ts';

describe('DATA_FIELDS', () => {
  it('are null of a station without data, never false or 0', () => {
    const context = { status: { ...STATION, snapshot: undefined }, nowMs: 0 };
    expect(Object.values(fieldsOf(DATA_FIELDS, context))).toEqual([null, null, null, null]);
  });
});

describe('OUTAGE_FIELDS', () => {
  it('have neither an end nor a length before the outage has ended', () => {
    const outage = { fromMs: 1000, toMs: undefined, failed: 1, statuses: [], reasons: ['timeout'] as const };
    expect(fieldsOf(OUTAGE_FIELDS, outage)).toMatchObject({ to: null, seconds: null });
  });
});
