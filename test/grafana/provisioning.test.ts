import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const provisioned = (file: string) => parse(readFileSync(new URL(`../../grafana/provisioning/${file}`, import.meta.url), 'utf8'));
const scraped = parse(readFileSync(new URL('../../prometheus/prometheus.yml', import.meta.url), 'utf8'));

describe('provisioning', () => {
  it('gives the data source that the dashboards look for, with the interval of the scrape configuration', () => {
    const { datasources } = provisioned('datasources/telemetry-station.yaml');
    expect(datasources).toMatchObject([
      { type: 'prometheus', url: 'http://prometheus:9090', isDefault: true, jsonData: { timeInterval: scraped.global.scrape_interval } },
      { type: 'alertmanager', url: `http://${scraped.alerting.alertmanagers[0].static_configs[0].targets[0]}` },
    ]);
  });

  it('reads the dashboards from the folder that they are mounted at', () => {
    const { providers } = provisioned('dashboards/telemetry-station.yaml');
    expect(providers).toMatchObject([{ type: 'file', allowUiUpdates: false, options: { path: '/var/lib/grafana/dashboards' } }]);
  });
});
