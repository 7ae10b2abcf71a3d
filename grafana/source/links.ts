import { DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Link } from './table.ts';

export const TAG = 'telemetry-station';

/** The addresses of the dashboards: people keep links to them, so they stay. */
export const DASHBOARDS = {
  fleet: { uid: 'telemetry-station-fleet', title: 'Telemetry stations: fleet', link: 'Fleet' },
  station: { uid: 'telemetry-station-station', title: 'Telemetry stations: station', link: 'Station' },
  resources: { uid: 'telemetry-station-resources', title: 'Telemetry stations: resources', link: 'Resources' },
  exporter: { uid: 'telemetry-station-exporter', title: 'Telemetry stations: exporter', link: 'Exporter' },
} as const;

export type DashboardName = keyof typeof DASHBOARDS;

/** To the other three, with the time range and the variables as they are. */
export function linksFrom(here: DashboardName): DashboardLinkBuilder[] {
  return Object.entries(DASHBOARDS)
    .filter(([name]) => name !== here)
    .map(([, { uid, title, link }]) =>
      new DashboardLinkBuilder(link)
        .type(DashboardLinkType.Link)
        .icon('dashboard')
        .tooltip(title)
        .url(`/d/${uid}`)
        .includeVars(true)
        .keepTime(true),
    );
}

/** From the row of a station to its dashboard. */
export const stationLink: Link = {
  title: 'This station',
  url: `${address('station')}&var-station=\${__data.fields.station:percentencode}`,
};

/** From the row of a resource to its history. */
export const resourceLink: Link = {
  title: 'This resource over time',
  url: `${address('resources')}&var-station=\${__data.fields.station:percentencode}&var-resource_id=\${__data.fields.resource_id:percentencode}`,
};

function address(name: DashboardName): string {
  return `/d/${DASHBOARDS[name].uid}?\${__url_time_range}&\${datasource:queryparam}&\${job:queryparam}`;
}
