import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const readProvisioning = (file: string) =>
  parse(readFileSync(new URL(`../../grafana/provisioning/${file}`, import.meta.url), 'utf8'));
const prometheusConfig = parse(readFileSync(new URL('../../prometheus/prometheus.yml', import.meta.url), 'utf8'));

describe('grafana/provisioning', () => {
  it('defines the data sources of the compose stack with the scrape interval of prometheus.yml', () => {
    const { datasources } = readProvisioning('datasources/telemetry-station.yaml');
    expect(datasources).toMatchObject([
      {
        type: 'prometheus',
        url: 'http://prometheus:9090',
        isDefault: true,
        jsonData: { timeInterval: prometheusConfig.global.scrape_interval },
      },
      {
        type: 'alertmanager',
        url: `http://${prometheusConfig.alerting.alertmanagers[0].static_configs[0].targets[0]}`,
      },
    ]);
  });

  it('loads dashboards from /var/lib/grafana/dashboards', () => {
    const { providers } = readProvisioning('dashboards/telemetry-station.yaml');
    expect(providers).toMatchObject([
      { type: 'file', allowUiUpdates: false, options: { path: '/var/lib/grafana/dashboards' } },
    ]);
  });
});
