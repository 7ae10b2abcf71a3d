import { describe, expect, it } from 'vitest';
import { SharedLines } from '../../src/journal/shared-lines.ts';
import { setUpLog } from './recorded-log.ts';

const TTL_MS = 60_000;

/** Stations that all fail and recover for one cause. */
function fleetOf(count: number) {
  const { log, now, advance, logged } = setUpLog();
  const stations = Array.from({ length: count }, (_, at) => ({
    spec: { name: `s${at}` },
    isRefreshing: false,
    isFailing: false,
  }));
  const lines = new SharedLines({ log, peersOf: () => stations, elapsedMs: now });
  const end = (at: number, isFailing: boolean, fields = { reason: 'status', error: 'error 503' }) => {
    const station = stations[at] ?? expect.unreachable();
    const line = { station: station.spec.name, upstream: 'main', cause: '503', ttlMs: TTL_MS };
    const own = { ownFields: { duration_seconds: 1 } };
    if (isFailing) lines.add({ ...line, level: 'warn', message: 'refresh failed', fields, ...own });
    else lines.add({ ...line, level: 'info', message: 'station recovered', cause: '', fields: {}, isRecovery: true });
    station.isRefreshing = false;
    station.isFailing = isFailing;
    lines.refreshEnded('main', station.spec.name);
  };
  /** All refresh at the same time, as one scrape lets them. */
  const round = (isFailing: boolean) => {
    for (const station of stations) station.isRefreshing = true;
    for (const at of stations.keys()) end(at, isFailing);
    return logged();
  };
  return { lines, stations, end, round, advance, logged };
}

const FIRST = 'first_stations="s0, s1, s2, s3, s4, and 85 more"';
const ALL = `upstream=main stations=90 ${FIRST}`;
const FAILED = `warn msg="refresh failed" ${ALL} reason=status error="error 503"`;
const RECOVERED = `info msg="station recovered" ${ALL}`;

describe('SharedLines', () => {
  it('writes an outage of an account in one line, and its end in another', () => {
    const { round } = fleetOf(90);
    expect([round(true), round(false)]).toEqual([[FAILED], [RECOVERED]]);
  });

  it('writes the first failure at once and the others after a ttl, and one recovery, when refreshes do not run together', () => {
    const { end, advance, logged } = fleetOf(90);
    const each = (isFailing: boolean) => {
      for (let at = 0; at < 90; at += 1) {
        end(at, isFailing);
        advance(600);
      }
      return logged();
    };
    const one = 'warn msg="refresh failed" station=s0 upstream=main reason=status error="error 503" duration_seconds=1';
    expect(each(true)).toEqual([one]);
    advance(6000);
    end(0, true);
    expect(logged()).toEqual([FAILED.replace(FIRST, 'first_stations="s1, s2, s3, s4, s5, and 85 more"')]);
    expect(each(false)).toEqual([RECOVERED]);
  });

  it('does not wait for a refresh that takes long, nor longer than a ttl for stations that do not recover', () => {
    const { stations, end, advance, logged } = fleetOf(3);
    (stations[2] ?? expect.unreachable()).isRefreshing = true;
    end(0, true);
    end(1, true);
    expect(logged()).toEqual([]);
    advance(10_000);
    end(1, true);
    expect(logged()).toEqual([expect.stringContaining('stations=2 first_stations="s0, s1"')]);
    end(2, true);
    end(0, false);
    expect(logged()).toEqual([]);
    advance(TTL_MS);
    end(1, false);
    expect(logged()).toEqual([
      expect.stringContaining('refresh failed'),
      expect.stringContaining('info msg="station recovered" upstream=main stations=2 first_stations="s0, s1"'),
    ]);
  });

  it('writes that a station recovered before it writes that it failed again, and what waits when stations go', () => {
    const { lines, end, logged } = fleetOf(2);
    const kinds = () => logged().map((line) => / msg="(.*?)" (.*?) /.exec(line)?.slice(1).join());
    end(0, true);
    end(1, true);
    end(0, false);
    expect(kinds()).toEqual(['refresh failed,station=s0']);
    end(0, true);
    expect(kinds()).toEqual(['station recovered,station=s0', 'refresh failed,upstream=main']);
    end(1, false);
    lines.writeAll();
    expect(kinds()).toEqual(['station recovered,station=s1']);
  });
});
