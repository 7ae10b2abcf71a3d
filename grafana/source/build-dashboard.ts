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
import { CLUSTER } from '../../prometheus/promql/cluster.ts';
import type { Link } from './panel.ts';
import { annotationQuery, DATASOURCE, Scope } from './query.ts';

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
  /** Its panels are queried only when it is opened. */
  readonly collapsed?: boolean;
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
    .annotations(annotations(variables.map((variable) => variable.build().name)))
    .links(linksFrom(name))
    .build();
  const { templating, annotations: annotationList, links = [] } = dashboard;
  return {
    ...dashboard,
    schemaVersion: SCHEMA_VERSION,
    id: null,
    panels: withPanelLinks(withIds(layOut(sections))),
    templating: { list: (templating.list ?? []).map(withoutIntervalOptions) },
    annotations: { list: (annotationList.list ?? []).map(withoutPlacement) },
    links: links.map((link): DashboardLink => withoutPlacement(link)),
  };
}

/** The schema version of Grafana 11.0: later versions migrate it, an earlier one would not understand a later version. */
const SCHEMA_VERSION = 39;

/** Panels side by side; their widths must add up to the grid width. */
export function line(height: number, ...panels: readonly SizedPanel[]): Line {
  return { height, panels };
}

/** The cluster, the job and the station of a row: names are unique in a job of a cluster only. */
const ROW_STATION = [
  ['cluster', CLUSTER],
  ['job', 'job'],
  ['station', 'station'],
]
  .map(([variable, label]) => `&var-${variable}=\${__data.fields.${label}:percentencode}`)
  .join('');

export const stationLink: Link = { title: 'Station dashboard', url: `${urlOf('station')}${ROW_STATION}` };

export const resourceLink: Link = {
  title: 'Resource history',
  url: `${urlOf('resources')}${ROW_STATION}&var-resource_id=\${__data.fields.resource_id:percentencode}`,
};

/** Within the resources dashboard: keeps what is searched for. */
export const foundResourceLink: Link = {
  title: resourceLink.title,
  url: `${resourceLink.url}${selected('resource_type', 'product', 'alert_state', 'gpu_model', 'display_name', 'name', 'id', 'limit')}`,
};

/** The inventory alone on the screen, in which it need not be opened first; a test checks its id. */
const INVENTORY = '&viewPanel=12';

/** The inventories that links open, with the alert state that they select. */
const INVENTORIES = {
  Resources: '',
  'Firing resources': '&var-alert_state=firing',
  'Resources in unknown states': '&var-alert_state=unknown',
} as const;

export const firingResourcesLink: Link = {
  title: 'Firing resources',
  url: `${urlOf('resources')}${ROW_STATION}${INVENTORIES['Firing resources']}${INVENTORY}`,
};

/** With the selected clusters and jobs. */
export const exporterLink: Link = {
  title: 'Exporter dashboard',
  url: `${urlOf('exporter')}${selected('cluster', 'job')}`,
};

/** The inventory with the selected stations, types and products. */
export function inventoryLink(title: keyof typeof INVENTORIES): Link {
  const selection = selected('cluster', 'job', 'station', 'resource_type', 'product');
  return { title, url: `${urlOf('resources')}${selection}${INVENTORIES[title]}${INVENTORY}` };
}

/** Another panel of a dashboard, alone on the screen; its id replaces the title when the dashboard is built. */
export function panelLink(dashboard: DashboardName, panelTitle: string): Link {
  const url = `/d/${DASHBOARDS[dashboard].uid}?\${__url_time_range}&\${__all_variables}&viewPanel=${PANEL_MARK}${panelTitle}`;
  return { title: panelTitle, url };
}

const PANEL_MARK = 'panel titled ';

function urlOf(name: DashboardName): string {
  return `/d/${DASHBOARDS[name].uid}?\${__url_time_range}&\${datasource:queryparam}`;
}

function selected(...variables: readonly string[]): string {
  return variables.map((variable) => `&\${${variable}:queryparam}`).join('');
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

/**
 * Configuration reloads and restarts, which explain most jumps, and when the conditions of firing critical alerts began: the values of these
 * series are the times. Regions as long as alerts fire would color every chart.
 */
function annotations(variables: readonly string[]): AnnotationQueryBuilder[] {
  const scope = new Scope();
  const alertScope = new Scope(...['station', 'instance'].filter((variable) => variables.includes(variable)));
  const critical = { severity: '="critical"', resource_id: '=""' };
  const firing = alertScope.alerts('ALERTS', { ...critical, alertstate: '="firing"' });
  const begun = `${alertScope.alerts('ALERTS_FOR_STATE', critical)} and ignoring (alertstate) ${firing}`;
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
    annotation('Configuration loaded', `1000 * ${reloads}`, 'blue').useValueForTime(true),
    annotation('Exporter started', `1000 * (${starts})`, 'purple').useValueForTime(true),
    annotation('Critical alert', `1000 * (${begun})`, 'red')
      .useValueForTime(true)
      .titleFormat('{{alertname}}')
      .textFormat('{{station}} {{instance}} {{upstream}}')
      .tagKeys(`severity,${CLUSTER}`),
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
    .target(annotationQuery(expression).refId('Anno'))
    .titleFormat(name)
    .textFormat('{{instance}}')
    .tagKeys(`${CLUSTER},job`)
    .step('60s');
}

const GRID_WIDTH = 24;
const ROW_HEIGHT = 1;

function layOut(sections: readonly Section[]): (Panel | RowPanel)[] {
  let y = 0;
  return sections.flatMap(({ title, collapsed = false, lines }) => {
    const row = { ...new RowBuilder(title).gridPos({ x: 0, y, w: GRID_WIDTH, h: ROW_HEIGHT }).build(), collapsed };
    y += ROW_HEIGHT;
    let bottom = y;
    const panels = lines.flatMap((line) => {
      const positioned = layOutLine(line, bottom);
      bottom += line.height;
      return positioned;
    });
    if (collapsed) return [{ ...row, panels }];
    y = bottom;
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

/** Grafana shows a pager even for a single page, and the SDK rejects 0; the queries of the state timelines limit their rows. */
function withoutPager(panel: Panel): Panel {
  return panel.type === 'state-timeline' ? { ...panel, options: { ...panel.options, perPage: 0 } } : panel;
}

/** Replaces the titles in panel links with ids. */
function withPanelLinks(panels: readonly (Panel | RowPanel)[]): (Panel | RowPanel)[] {
  const all = panels.flatMap((panel) => (isPanel(panel) ? [panel] : panel.panels));
  const resolved = JSON.stringify(panels).replaceAll(new RegExp(`${PANEL_MARK}([^"]+)`, 'g'), (_, title: string) => {
    const [target, ...others] = all.filter((panel) => panel.title === title);
    if (target?.id === undefined || others.length > 0)
      throw new Error(`panel link: expected one panel titled ${title}`);
    return `${target.id}`;
  });
  return JSON.parse(resolved) as (Panel | RowPanel)[];
}

function isPanel(panel: Panel | RowPanel): panel is Panel {
  return panel.type !== 'row';
}

/** Without a placement, Grafana shows links and annotations beside the variables instead of in a menu. */
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
