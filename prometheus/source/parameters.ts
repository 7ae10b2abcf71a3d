/**
 * What an operator may adjust: `for`, the severity and the thresholds of each alert. The values of the Helm chart have the same keys.
 * Severities: see docs/runbooks/README.md.
 */
export const DEFAULT_PARAMETERS = {
  TelemetryStationDown: { for: '10m', severity: 'warning' },
  TelemetryStationDataStale: { for: '5m', severity: 'critical', seconds: 900 },
  TelemetryStationListingIncomplete: { for: '15m', severity: 'warning' },
  TelemetryStationRecordsRejected: { for: '15m', severity: 'warning', records: 0 },
  TelemetryStationUnknownState: { for: '15m', severity: 'warning', resources: 0 },
  TelemetryStationNoStations: { for: '10m', severity: 'critical' },
  TelemetryStationResourceFiring: { for: '5m', severity: 'warning', limit: 500 },
  TelemetryStationManyResourcesFiring: { for: '5m', severity: 'critical', resources: 20 },
  TelemetryStationAlertableWithoutRules: { for: '1d', severity: 'info', resources: 0 },
  TelemetryStationNewResourcesWithoutRules: { for: '30m', severity: 'info', resources: 0 },
  TelemetryStationResourcesLost: { for: '5m', severity: 'critical', share: 0.2 },
  TelemetryStationCapacityDropped: { for: '30m', severity: 'warning', share: 0.2 },
  TelemetryStationCapacityBelowExpected: { for: '30m', severity: 'warning' },
  TelemetryStationResourcesNotMonitored: { for: '1h', severity: 'info', resources: 0 },
  TelemetryStationExporterDown: { for: '5m', severity: 'critical' },
  TelemetryStationExporterAbsent: { for: '10m', severity: 'critical' },
  TelemetryStationExporterReloadFailed: { for: '5m', severity: 'warning' },
  TelemetryStationScrapesFailing: { for: '10m', severity: 'warning', share: 0.2 },
  TelemetryStationScrapeSlow: { for: '15m', severity: 'warning', seconds: 8 },
  TelemetryStationApiThrottled: { for: '10m', severity: 'warning', share: 0.05 },
  TelemetryStationOverloaded: { for: '15m', severity: 'warning', seconds: 120 },
  TelemetryStationSeriesWithheld: { for: '15m', severity: 'warning', series: 0 },
  TelemetryStationShardsIncomplete: { for: '5m', severity: 'critical' },
} as const satisfies Record<
  string,
  { readonly for: string; readonly severity: Severity; readonly [threshold: string]: string | number }
>;

type Severity = 'critical' | 'warning' | 'info';

export type AlertName = keyof typeof DEFAULT_PARAMETERS;

/** The parameters of each alert: values, or what a template replaces with values. */
export type Parameters = {
  readonly [Alert in AlertName]: { readonly [Key in keyof (typeof DEFAULT_PARAMETERS)[Alert]]: string | number };
};

/** The label of `resource_labels` by which alerts about resources are routed; without that label, they do not have it. */
export const OWNER_LABEL = 'team';

export const OWNER_PLACEHOLDER = '<<ownerLabel>>';

/** Where alerts link to. */
export interface Links {
  /** Base of every runbook_url. */
  readonly runbooks: string;
  /** Base of every dashboard_url; without it alerts have none. */
  readonly grafana?: string;
  /** Base of every exporter_url, likewise. */
  readonly exporter?: string;
}

/** To host the runbooks elsewhere, change it and run `npm run generate`. */
export const RUNBOOK_URL =
  'https://github.com/telemetry-station-exporter/telemetry-station-exporter/blob/main/docs/runbooks';

export const DEFAULT_LINKS: Links = { runbooks: RUNBOOK_URL };

/** For the Helm chart, whose template replaces each placeholder with the value of the same key. */
export const PLACEHOLDERS = Object.fromEntries(
  Object.entries(DEFAULT_PARAMETERS).map(([alert, parameters]) => [
    alert,
    Object.fromEntries(Object.keys(parameters).map((key) => [key, `<<${alert}.${key}>>`])),
  ]),
) as Parameters;

export const PLACEHOLDER_LINKS: Required<Links> = {
  runbooks: '<<runbookUrl>>',
  grafana: '<<grafanaUrl>>',
  exporter: '<<externalUrl>>',
};
