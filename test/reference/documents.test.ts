import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { chartSchema } from '../../scripts/reference/chart.ts';
import { configurationReference, publishedSchema } from '../../scripts/reference/configuration.ts';
import { dataReference } from '../../scripts/reference/data.ts';
import { withFailureTable } from '../../scripts/reference/failures.ts';
import { flagsReference } from '../../scripts/reference/flags.ts';
import { metricsReference } from '../../scripts/reference/metrics.ts';
import { withAlertTable } from '../../scripts/reference/runbooks.ts';

const CHART = 'deploy/helm/telemetry-station-exporter';
const RUNBOOKS = 'docs/runbooks/README.md';
const STATION_DOWN = 'docs/runbooks/TelemetryStationDown.md';

const DOCUMENTS = {
  'docs/configuration.md': configurationReference,
  'config.schema.json': () => `${JSON.stringify(publishedSchema(), null, 2)}\n`,
  'docs/data.md': dataReference,
  'docs/flags.md': flagsReference,
  'docs/metrics.md': metricsReference,
  [RUNBOOKS]: () => withAlertTable(readFileSync(RUNBOOKS, 'utf8')),
  [STATION_DOWN]: () => withFailureTable(readFileSync(STATION_DOWN, 'utf8')),
  [`${CHART}/values.schema.json`]: () => chartSchema(readFileSync(`${CHART}/values.schema.json`, 'utf8')),
};

describe('npm run generate', () => {
  it.each(Object.entries(DOCUMENTS))('has nothing to change in %s', async (file, generated) => {
    await expect(generated()).toMatchFileSnapshot(`../../${file}`);
  });
});
