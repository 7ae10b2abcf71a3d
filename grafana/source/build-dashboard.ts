import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  AnnotationQueryBuilder,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  type DashboardLink,
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
  fleet: { uid: 'telemetry-station-fleet', title: 'Telemetry stations: fleet', link: 'Fleet' },
  station: { uid: 'telemetry-station-station', title: 'Telemetry stations: station', link: 'Station' },
  resources: { uid: 'telemetry-station-resources', title: 'Telemetry stations: resources', link: 'Resources' },
  exporter: { uid: 'telemetry-station-exporter', title: 'Telemetry stations: exporter', link: 'Exporter' },
} as const;

type DashboardName = keyof typeof DASHBOARDS;

interface DashboardSource {
  readonly name: DashboardName;
  readonly description: string;
  /** Auto-refresh interval. */
  readonly refresh: string;
  readonly variables: readonly { build(): VariableModel }[];
  readonly sections: readonly Section[];
}

/** A Grafana row panel and the panels below it. */
interface Section {
  readonly title: string;
  readonly lines: readonly Line[];
}

interface Line {
  readonly height: number;
  readonly panels: readonly SizedPanel[];
}

type SizedPanel = readonly [width: number, panel: Builder<Panel>];

/** Dashboard JSON for file provisioning: common settings, panel ids, and corrections to the SDK's output. */
export function buildDashboard({ name, description, refresh, variables, sections }: DashboardSource): Dashboard {
  const { uid, title } = DASHBOARDS[name];
  const dashboard = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(['telemetry-station'])
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh(refresh)
    .variables([...variables])
    .annotations(annotations())
    .links(linksFrom(name))
    .build();
  const { templating, annotations: annotationList, links = [] } = dashboard;
  return {
    ...dashboard,
    id: null,
    panels: layOut(sections).map(withIds),
    templating: { list: (templating.list ?? []).map(withoutIntervalOptions) },
    annotations: { list: (annotationList.list ?? []).map(withoutPlacement) },
    links: links.map((link): DashboardLink => withoutPlacement(link)),
  };
}

/** Panels side by side; their widths must add up to the grid width. */
export function line(height: number, ...panels: readonly SizedPanel[]): Line {
  return { height, panels };
}

export const stationLink: Link = {
  title: 'Station dashboard',
  url: `${urlOf('station')}&var-station=\${__data.fields.station:percentencode}`,
};

export const resourceLink: Link = {
  title: 'Resource history',
  url: `${urlOf('resources')}&var-station=\${__data.fields.station:percentencode}&var-resource_id=\${__data.fields.resource_id:percentencode}`,
};

function urlOf(name: DashboardName): string {
  return `/d/${DASHBOARDS[name].uid}?\${__url_time_range}&\${datasource:queryparam}&\${job:queryparam}`;
}

function linksFrom(current: DashboardName): DashboardLinkBuilder[] {
  return Object.entries(DASHBOARDS)
    .filter(([name]) => name !== current)
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

/** Configuration reloads and restarts, which explain most jumps. The value of both series is the time of the event. */
function annotations(): AnnotationQueryBuilder[] {
  const scope = new Scope();
  const reloads = scope.series('telemetry_station_exporter_config_last_reload_success_timestamp_seconds');
  const starts = scope.onExporters(scope.series('process_start_time_seconds'));
  return [
    new AnnotationQueryBuilder()
      .name('Annotations & Alerts')
      .datasource({ type: 'grafana', uid: '-- Grafana --' })
      .type('dashboard')
      .builtIn(1)
      .enable(true)
      .hide(true)
      .iconColor('rgba(0, 211, 255, 1)'),
    annotation('Configuration loaded', `1000 * ${reloads}`, 'blue'),
    annotation('Exporter started', `1000 * (${starts})`, 'purple'),
  ];
}

function annotation(name: string, expression: string, color: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(true)
    .hide(false)
    .iconColor(color)
    .expr(expression)
    .target(rangeQuery(expression, '').refId('Anno'))
    .titleFormat(name)
    .textFormat('{{instance}}')
    .tagKeys('job')
    .step('60s')
    .useValueForTime(true);
}

const GRID_WIDTH = 24;
const ROW_HEIGHT = 1;

function layOut(sections: readonly Section[]): (Panel | RowPanel)[] {
  let y = 0;
  return sections.flatMap(({ title, lines }) => {
    const row = new RowBuilder(title).gridPos({ x: 0, y, w: GRID_WIDTH, h: ROW_HEIGHT }).build();
    y += ROW_HEIGHT;
    const panels = lines.flatMap((line) => {
      const positioned = layOutLine(line, y);
      y += line.height;
      return positioned;
    });
    return [row, ...panels];
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

function withIds(panel: Panel | RowPanel, index: number): Panel | RowPanel {
  const id = index + 1;
  if (!isPanel(panel)) return { ...panel, id };
  const targets = (panel.targets ?? []).map((target, position) => ({ ...target, refId: String.fromCharCode(65 + position) }));
  return { ...panel, id, datasource: DATASOURCE, targets };
}

function isPanel(panel: Panel | RowPanel): panel is Panel {
  return panel.type !== 'row';
}

/** Without a placement, Grafana shows links and annotations beside the variables instead of in a menu. */
function withoutPlacement<Control extends { placement?: unknown }>({ placement, ...control }: Control): Omit<Control, 'placement'> {
  return control;
}

/** The SDK sets options of interval variables on every variable. */
function withoutIntervalOptions({ auto, auto_min, auto_count, ...variable }: VariableModel): VariableModel {
  return variable;
}
