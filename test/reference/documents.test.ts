import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CLUSTER_LABEL } from '../../prometheus/promql/cluster.ts';
import { DEFAULT_PARAMETERS, OWNER_LABEL, RUNBOOK_URL } from '../../prometheus/source/parameters.ts';
import { chartReference } from '../../scripts/reference/chart.ts';
import { configurationReference, publishedSchema } from '../../scripts/reference/configuration.ts';
import { dataReference } from '../../scripts/reference/data.ts';
import { withFailureTable } from '../../scripts/reference/failures.ts';
import { flagsReference } from '../../scripts/reference/flags.ts';
import { metricsReference } from '../../scripts/reference/metrics.ts';
import { runbookIndex } from '../../scripts/reference/runbooks.ts';

const CHART = 'deploy/helm/telemetry-station-exporter';
const STATION_DOWN = 'docs/runbooks/TelemetryStationDown.md';

/** Empty URLs: alerts have no link to Grafana and the exporter, as in prometheus/rules.yml. */
const MIXIN_PARAMETERS = {
  runbookUrl: RUNBOOK_URL,
  grafanaUrl: '',
  externalUrl: '',
  ownerLabel: OWNER_LABEL,
  clusterLabel: CLUSTER_LABEL,
  alertLabels: {},
  alertAnnotations: {},
  alerts: DEFAULT_PARAMETERS,
};

const DOCUMENTS = {
  'docs/configuration.md': configurationReference,
  'config.schema.json': () => `${JSON.stringify(publishedSchema(), null, 2)}\n`,
  'docs/data.md': dataReference,
  'docs/flags.md': flagsReference,
  'docs/metrics.md': metricsReference,
  'docs/runbooks/README.md': runbookIndex,
  [STATION_DOWN]: () => withFailureTable(readFileSync(STATION_DOWN, 'utf8')),
  'mixin/parameters.json': () => `${JSON.stringify(MIXIN_PARAMETERS, null, 2)}\n`,
  [`${CHART}/README.md`]: () => chartReference(readFileSync(`${CHART}/values.yaml`, 'utf8')),
};

describe('npm run generate', () => {
  it.each(Object.entries(DOCUMENTS))('has nothing to change in %s', async (file, generated) => {
    await expect(generated()).toMatchFileSnapshot(`../../${file}`);
  });
});
