import { costTables } from './cost.ts';

/** grafana/README.md, with what each panel costs. */
export function dashboardsReference(): string {
  return `# Dashboards

| file | shows |
|---|---|
| \`dashboards/fleet.json\` | all stations: up and failing, resources by type, product and state, alert coverage, capacity, what changed |
| \`dashboards/station.json\` | one station in depth: counts over time, what is not watched, oldest and newest, health of the listing |
| \`dashboards/resources.json\` | every resource by itself: search, table, and one resource's history |
| \`dashboards/exporter.json\` | the exporter: scrapes, requests to the service, cache, process, configuration, shards |

Import the files (*Dashboards → New → Import*), or mount \`provisioning\` at \`/etc/grafana/provisioning\` and \`dashboards\` at
\`/var/lib/grafana/dashboards\`: the data sources then are Prometheus at \`http://prometheus:9090\` and Alertmanager at
\`http://alertmanager:9093\`. The dashboards are written for Grafana 12 (classic model, schema version 42) and need the metrics alone, not the
recording rules. All four have the tag \`telemetry-station\` and lead to each other with time range and variables kept; their addresses
(\`/d/telemetry-station-fleet\` and so on) stay.

- Two targets of one job that tell of the same station, as a pair of replicas does, are counted once. Two jobs are counted twice: choose one
  in the variable *Job*.
- \`$__rate_interval\` follows the scrape interval set in the data source: the provisioned one says one minute, as \`prometheus/prometheus.yml\` does.
- A resource fires when its state holds the word *firing*: the service documents no such state.
- *Bytes per scrape* needs Prometheus' \`--enable-feature=extra-scrape-metrics\`.

The JSON is generated from \`source/\` by \`npm run generate\`. A metric or a label that is not in the catalogue of \`src/metrics\` does not compile.
For changes of your own, save a copy under another name: the files here are marked as not editable and are replaced by updates.

## What a panel costs

The most series that a panel's queries read for one station of 100,000 resources in 20 types, 5 products and 4 states, each counted as often as it is
read. Panels above 100,000 read what is published of each resource, and say so in their description; all others read aggregates, which do not grow with the
number of resources. Tables show a bounded number of rows. On two cores that were busy otherwise, Prometheus 2.42 took one and a half to four seconds for each query
over 100,000 resources, and half a second to one and a half where a search narrowed it.

${costTables()}
`;
}
