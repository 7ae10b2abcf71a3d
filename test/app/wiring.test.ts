import { describe, expect, it } from 'vitest';
import { recordLimits } from '../../src/app/wiring.ts';
import { configSchema } from '../../src/config/schema.ts';
import { configOf } from '../e2e/test-bed.ts';

const configured = (config: object) => configSchema.parse(config);

describe('recordLimits', () => {
  const MIB = 1024 * 1024;
  const limitsOf = (limits: object, heapBytes?: number) =>
    recordLimits(configured({ ...configOf('http://h', ['a']), limits }), 1, heapBytes);

  it('leaves at least 1,000 bytes of the heap for each record, whatever the heap', () => {
    for (const heapMib of [96, 256, 512, 4096, 16_384]) {
      const { records, records_per_station } = limitsOf({}, heapMib * MIB);
      expect((heapMib * MIB) / records).toBeGreaterThan(1000);
      expect(records_per_station).toBeLessThan(records);
    }
    expect(limitsOf({}, 259 * MIB)).toEqual({ records: 111_210, records_per_station: 83_408 });
    expect(limitsOf({}, 10 * MIB)).toEqual({ records: 1000, records_per_station: 750 });
    expect(limitsOf({}).records).toBeGreaterThan(1000);
  });

  it('leave room for the latest refreshes of every station', () => {
    const { records } = recordLimits(configured(configOf('http://h', ['a'])), 1000, 560 * MIB);
    const refreshBytes = 1000 * 96 * 1024;
    expect(records * 1400 + refreshBytes).toBeLessThan(512 * MIB);
    expect(records).toBeGreaterThan(200_000);
  });

  it('are those of the configuration', () => {
    expect(limitsOf({ records: 400 }, MIB)).toEqual({ records: 400, records_per_station: 300 });
    expect(limitsOf({ records_per_station: 5 }, 259 * MIB)).toEqual({ records: 111_210, records_per_station: 5 });
  });
});
