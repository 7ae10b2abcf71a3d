import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CLUSTER_LABEL } from '../../prometheus/promql/cluster.ts';
import { optionalRules, optionalRulesTemplate } from '../../prometheus/source/optional-rules.ts';
import { DEFAULT_PARAMETERS, OWNER_LABEL, RUNBOOK_URL } from '../../prometheus/source/parameters.ts';
import { chartReference, chartSchema } from '../../scripts/reference/chart.ts';
import { configurationReference, publishedSchema } from '../../scripts/reference/configuration.ts';
import { dataReference } from '../../scripts/reference/data.ts';
import { withFailureTable } from '../../scripts/reference/failures.ts';
import { flagsReference } from '../../scripts/reference/flags.ts';
import { metricsReference } from '../../scripts/reference/metrics.ts';
import { runbookIndex } from '../../scripts/reference/runbooks.ts';

const CHART = 'deploy/helm/telemetry-station-exporter';
const OPTIONAL_VALUES = `${CHART}/ci/optional-rules-values.yaml`;
const STATION_DOWN = 'docs/runbooks/TelemetryStationDown.md';

/** Empty URLs: alerts have no link to Grafana and the exporter, as in prometheus/rules.yml. */
const MIXIN_PARAMETERS = {
  runbookUrl: RUNBOOK_URL,
  grafanaUrl: '',
  externalUrl: '',
  ownerLabel: OWNER_LABEL,
  clusterLabel: CLUSTER_LABEL,
  monitoredBy: [],
  expectedQuantities: [],
  prices: [],
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
  [`${CHART}/files/optional-rules.tpl.yml`]: optionalRulesTemplate,
  'prometheus/optional-rules.yml': () => optionalRules(parse(readFileSync(OPTIONAL_VALUES, 'utf8')).prometheusRule),
  [`${CHART}/values.schema.json`]: () => chartSchema(readFileSync(`${CHART}/values.schema.json`, 'utf8')),
  [`${CHART}/README.md`]: () => chartReference(readFileSync(`${CHART}/values.yaml`, 'utf8')),
};

describe('npm run generate', () => {
  it.each(Object.entries(DOCUMENTS))('has nothing to change in %s', async (file, generated) => {
    await expect(generated()).toMatchFileSnapshot(`../../${file}`);
  });
});
