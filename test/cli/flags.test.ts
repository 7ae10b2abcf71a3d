import { describe, expect, it } from 'vitest';
import { ownShard } from '../../src/cli/flags.ts';

const auto = (hostName: string, total = 12) => ownShard({ shard: 'auto', 'total-shards': total }, hostName);

describe('ownShard', () => {
  it('uses the flags and ignores the host name', () => {
    expect(ownShard({ shard: 2, 'total-shards': 3 }, 'exporter-0')).toEqual({
      ok: true,
      shard: { ordinal: 2, total: 3 },
    });
  });

  it.each([
    ['exporter-0', 0],
    ['telemetry-station-exporter-11', 11],
    ['v2-exporter-3.exporter.monitoring.svc.cluster.local', 3],
  ])('takes the ordinal from the host name %s', (hostName, ordinal) => {
    expect(auto(hostName)).toEqual({ ok: true, shard: { ordinal, total: 12 } });
  });

  it.each(['exporter-7d9f5c-x2x9z', 'exporter3', 'web.exporter-1', ''])(
    'rejects the host name %j without an ordinal',
    (hostName) => {
      expect(auto(hostName)).toEqual({
        ok: false,
        problem: `--shard=auto: expected a host name that ends in a number, such as exporter-0, got "${hostName}"`,
      });
    },
  );

  it('rejects an ordinal that is not below the number of shards', () => {
    expect(auto('exporter-3', 3)).toEqual({
      ok: false,
      problem: '--shard=auto: expected a host name that ends in a number below --total-shards (3), got "exporter-3"',
    });
    expect(auto('exporter-2', 3)).toEqual({ ok: true, shard: { ordinal: 2, total: 3 } });
  });
});
