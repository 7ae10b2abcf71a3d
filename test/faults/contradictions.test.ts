import { describe, expect, it } from 'vitest';
import { contradictions } from './contradictions.ts';
import { tallies } from './tally.ts';

const REASONS = 'timeout network tls auth forbidden not_found rate_limited status body internal'.split(' ');
const failure = (...holding: string[]) =>
  REASONS.map((reason) => `telemetry_station_failure{station="a",reason="${reason}"} ${holding.includes(reason) ? 1 : 0}`);
const DATA = [
  'telemetry_station_listing_complete{station="a"} 1',
  'telemetry_station_listing_reported_resources{station="a"} 3',
  'telemetry_station_listing_rejected_resources{station="a"} 1',
  'telemetry_station_resources{station="a",state="x"} 2',
  'telemetry_station_resource_info{station="a",resource_id="1"} 1',
  'telemetry_station_resource_info{station="a",resource_id="2"} 1',
];
const UP = [
  'telemetry_station_up{station="a"} 1',
  ...failure(),
  'telemetry_station_last_attempt_timestamp_seconds{station="a"} 5',
  'telemetry_station_last_success_timestamp_seconds{station="a"} 5',
];
const DOWN = [
  'telemetry_station_up{station="a"} 0',
  ...failure('body'),
  'telemetry_station_last_attempt_timestamp_seconds{station="a"} 5',
  'telemetry_station_last_success_timestamp_seconds{station="a"} 4',
];

const found = (lines: readonly string[]) => {
  const tally = tallies(`# HELP a b\n${lines.join('\n')}\n`).get('a') ?? expect.unreachable('no station');
  return contradictions(tally);
};
const changed = (lines: readonly string[], from: string, to: string) => lines.map((line) => line.replace(from, to));

describe('contradictions', () => {
  it.each([
    ['a station that is up', [...UP, ...DATA]],
    ['a failing one with its last data', [...DOWN, ...DATA]],
    ['a failing one without', DOWN],
    ['an incomplete one', [...UP, ...changed(DATA, 'complete{station="a"} 1', 'complete{station="a"} 0').slice(0, -1), ...DATA.slice(-1)]],
  ])('are none in %s', (_what, lines) => {
    expect(found(lines)).toEqual([]);
  });

  it.each([
    ['up is undefined', UP.slice(1)],
    ['there are 9 reasons', UP.filter((line) => !line.includes('"tls"'))],
    ['up, and failing by tls', changed(UP, 'reason="tls"} 0', 'reason="tls"} 1')],
    ['failing by tls,body at once', changed(DOWN, 'reason="tls"} 0', 'reason="tls"} 1')],
    ['failing for no reason', changed(DOWN, 'reason="body"} 1', 'reason="body"} 0')],
    ['a success after the last attempt', changed(DOWN, '{station="a"} 4', '{station="a"} 6')],
    [
      'up, though the last success (4) was not the last attempt',
      changed(UP, 'success_timestamp_seconds{station="a"} 5', 'success_timestamp_seconds{station="a"} 4'),
    ],
    ['data without a word on whether it is whole', [...UP, ...DATA.slice(1)]],
    ['data without a success', [...DOWN.slice(0, -1), ...DATA]],
    ['2 resources in sum, 1 one by one', [...UP, ...changed(DATA, 'resources{station="a"} 3', 'resources{station="a"} 2').slice(0, -1)]],
    [
      'called whole with 2 resources and 1 rejected of 4',
      [...UP, ...changed(DATA, 'resources{station="a"} 3', 'resources{station="a"} 4')],
    ],
  ])('are told: %s', (contradiction, lines) => {
    expect(found(lines)).toEqual([contradiction]);
  });
});
