import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  AnnotationQueryBuilder,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  type Panel,
  RowBuilder,
  type RowPanel,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Link } from './panel.ts';
import { DATASOURCE, rangeQuery, Scope } from './query.ts';

/** The uids are part of URLs that users bookmark: they must not change. */
const DASHBOARDS = {
  fleet: { uid: 'telemetry-station-fleet', title: 'Telemetry stations: fleet' },
  station: { uid: 'telemetry-station-station', title: 'Telemetry stations: station' },
  resources: { uid: 'telemetry-station-resources', title: 'Telemetry stations: resources' },
  exporter: { uid: 'telemetry-station-exporter', title: 'Telemetry stations: exporter' },
} as const;

type DashboardName = keyof typeof DASHBOARDS;

interface DashboardSource {
  readonly name: DashboardName;
  readonly description: string;
  readonly variables: readonly { build(): VariableModel }[];
  readonly rows: readonly Row[];
}

interface Row {
  /** Without a title, the row has no heading. */
  readonly title?: string;
  /** Its panels are queried when it is opened. */
  readonly collapsed?: boolean;
  readonly lines: readonly Line[];
}

/** Panels side by side; their widths must add up to the grid width. */
interface Line {
  readonly height: number;
  readonly panels: readonly SizedPanel[];
}

type SizedPanel = readonly [width: number, panel: Builder<Panel>];

/** Dashboard JSON for file provisioning: common settings, layout, panel ids, and corrections to the SDK's output. */
export function buildDashboard({ name, description, variables, rows }: DashboardSource): Dashboard {
  const { uid, title } = DASHBOARDS[name];
  const dashboard = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .variables([...variables])
    .annotations(annotations())
    .links([otherDashboards()])
    .build();
  const { templating, annotations: annotationList, links = [] } = dashboard;
  return {
    ...dashboard,
    schemaVersion: SCHEMA_VERSION,
    id: null,
    panels: withIds(layOut(rows)),
    templating: { list: (templating.list ?? []).map(withoutIntervalOptions) },
    annotations: { list: (annotationList.list ?? []).map(withoutPlacement) },
    links: links.map(withoutPlacement),
  };
}

/** The schema version of Grafana 11.0: later versions migrate it, an earlier one would not understand a later version. */
const SCHEMA_VERSION = 39;

const TAG = 'telemetry-station';

export function line(height: number, ...panels: readonly SizedPanel[]): Line {
  return { height, panels };
}

export const stationLink: Link = {
  title: 'Station dashboard',
  url: `${urlOf('station')}&var-station=\${__data.fields.station:percentencode}`,
};

export const exporterLink: Link = { title: 'Exporter dashboard', url: urlOf('exporter') };

export const resourcesLink: Link = {
  title: 'Resources dashboard',
  url: `${urlOf('resources')}&\${station:queryparam}`,
};

export const resourceLink: Link = {
  title: 'Resource history',
  url: `${urlOf('resources')}&var-station=\${__data.fields.station:percentencode}&var-resource_id=\${__data.fields.resource_id:percentencode}`,
};

/** With the selected data source, cluster, job and time range. */
function urlOf(name: DashboardName): string {
  const variables = ['datasource', 'cluster', 'job'].map((variable) => `&\${${variable}:queryparam}`);
  return `/d/${DASHBOARDS[name].uid}?\${__url_time_range}${variables.join('')}`;
}

function otherDashboards(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Dashboards')
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .asDropdown(true)
    .includeVars(true)
    .keepTime(true);
}

/** Reloads and restarts, which explain most jumps. Their switches are hidden: they would take a line of the screen. */
function annotations(): AnnotationQueryBuilder[] {
  const exporters = new Scope();
  const reloads = exporters.series('telemetry_station_exporter_config_last_reload_success_timestamp_seconds');
  return [
    new AnnotationQueryBuilder()
      .name('Annotations & Alerts')
      .datasource({ type: 'grafana', uid: '-- Grafana --' })
      .type('dashboard')
      .builtIn(1)
      .enable(true)
      .hide(true)
      .iconColor('rgba(0, 211, 255, 1)'),
    annotation('Configuration loaded', reloads, 'blue'),
    annotation('Exporter started', exporters.series('process_start_time_seconds'), 'purple'),
  ];
}

/** The values of the series are times in seconds. */
function annotation(name: string, series: string, color: string): AnnotationQueryBuilder {
  const expression = `1000 * ${series}`;
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(true)
    .hide(true)
    .iconColor(color)
    .expr(expression)
    .target(rangeQuery(expression, '').refId('Anno'))
    .useValueForTime(true)
    .titleFormat(name)
    .textFormat('{{instance}}')
    .step('60s');
}

const GRID_WIDTH = 24;
const ROW_HEIGHT = 1;

function layOut(rows: readonly Row[]): (Panel | RowPanel)[] {
  let y = 0;
  return rows.flatMap(({ title, collapsed = false, lines }) => {
    const position = { x: 0, y, w: GRID_WIDTH, h: ROW_HEIGHT };
    const headings = title === undefined ? [] : [new RowBuilder(title).gridPos(position).build()];
    y += headings.length * ROW_HEIGHT;
    let bottom = y;
    const panels = lines.flatMap((line) => {
      const positioned = layOutLine(line, bottom);
      bottom += line.height;
      return positioned;
    });
    if (collapsed) return headings.map((heading) => ({ ...heading, collapsed, panels }));
    y = bottom;
    return [...headings, ...panels];
  });
}

function layOutLine({ height, panels }: Line, y: number): Panel[] {
  let x = 0;
  const positioned = panels.map(([width, panel]) => {
    const gridPos = { x, y, w: width, h: height };
    x += width;
    return { ...panel.build(), gridPos };
  });
  if (x !== GRID_WIDTH) throw new Error(`panel widths: expected a sum of ${GRID_WIDTH}, got ${x}`);
  return positioned;
}

function withIds(panels: readonly (Panel | RowPanel)[]): (Panel | RowPanel)[] {
  let id = 0;
  const numbered = (panel: Panel): Panel => {
    const targets = (panel.targets ?? []).map((target, position) => ({
      ...target,
      refId: String.fromCharCode(65 + position),
    }));
    return withoutPager({ ...panel, id: ++id, datasource: DATASOURCE, targets });
  };
  return panels.map((panel) =>
    isPanel(panel) ? numbered(panel) : { ...panel, id: ++id, panels: panel.panels.map(numbered) },
  );
}

/** Grafana shows a pager even for a single page, and the SDK rejects 0. */
function withoutPager(panel: Panel): Panel {
  return panel.type === 'state-timeline' ? { ...panel, options: { ...panel.options, perPage: 0 } } : panel;
}

function isPanel(panel: Panel | RowPanel): panel is Panel {
  return panel.type !== 'row';
}

/** Without a placement, Grafana shows links beside the variables instead of in a menu. */
function withoutPlacement<Control extends { placement?: unknown }>({
  placement,
  ...control
}: Control): Omit<Control, 'placement'> {
  return control;
}

/** The SDK sets options of interval variables on every variable. */
function withoutIntervalOptions({ auto, auto_min, auto_count, ...variable }: VariableModel): VariableModel {
  return variable;
}
