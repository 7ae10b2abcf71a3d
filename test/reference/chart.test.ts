import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chartReference } from '../../scripts/reference/chart.ts';

const values = readFileSync('deploy/helm/telemetry-station-exporter/values.yaml', 'utf8');

describe('chartReference', () => {
  it('has every value, or the object it belongs to', () => {
    const documented = [...chartReference(values).matchAll(/^\| `([\w.]+)` \|/gm)].map(([, path]) => path);
    const paths = Object.entries(parse(values)).flatMap(([key, value]) =>
      documented.includes(key) && !documented.some((path) => path?.startsWith(`${key}.`))
        ? []
        : Object.keys(value as object).map((child) => `${key}.${child}`),
    );
    expect(paths.filter((path) => !documented.includes(path))).toEqual([]);
  });
});
