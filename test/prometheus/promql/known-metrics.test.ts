import { describe, expect, it } from 'vitest';
import { unknownIn } from './known-metrics.ts';

describe('unknownIn', () => {
  it.each([
    ['an unknown metric', 'telemetry_station_gone', ['metric telemetry_station_gone']],
    [
      'a label that the metric lacks',
      'telemetry_station_up{reason="auth"}',
      ['label reason of telemetry_station_up', 'label reason'],
    ],
    ['an unknown label', 'sum by (colour) (telemetry_station_up)', ['label colour']],
    ['a syntax error', 'sum(telemetry_station_up', [expect.stringMatching(/^at \d+/)]],
  ])('reports %s', (_, expression, expected) => {
    expect(unknownIn(expression)).toEqual(expected);
  });
});
