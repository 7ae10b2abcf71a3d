import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  LineInterpolation,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableCellHeight,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type DashboardLink,
  type DynamicConfigValue,
  FieldColorBuilder,
  FieldColorModeId,
  type ThresholdsConfigBuilder,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StateTimeline } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as Timeseries } from '@grafana/grafana-foundation-sdk/timeseries';
import { CLUSTER } from '../../prometheus/promql/cluster.ts';
import {
  displayName,
  EMPTY_CELL,
  fixedColor,
  HUE,
  NO_DATA,
  NONE,
  neutral,
  REASON_COLORS,
  STATE_SERIES,
  shadesOf,
  thresholds,
  UNIT,
  UNKNOWN_STATE,
} from './appearance.ts';

interface PanelText {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  /** Shown when the queries return no data; by default NO_DATA. */
  readonly noValue?: string;
}

type Query = Builder<Dataquery>;

export function stat({ title, description, unit, noValue = NO_DATA }: PanelText, query: Query): Stat {
  return new Stat()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue(noValue)
    .withTarget(query)
    .thresholds(neutral())
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(lastValue());
}

export function timeseries(
  { title, description, unit, noValue = NO_DATA }: PanelText,
  ...queries: readonly Query[]
): Timeseries {
  return new Timeseries()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue(noValue)
    .targets([...queries])
    .lineWidth(1)
    .fillOpacity(0)
    .showPoints(VisibilityMode.Never)
    .axisSoftMin(0)
    .axisSoftMax(SOFT_MAX[unit] ?? 1)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Shades).fixedColor('blue'))
    .legend(legend())
    .tooltip(tooltip());
}

/** The end of the axis of a chart that is 0 all the time, which Grafana would scale to 100. */
const SOFT_MAX: Readonly<Record<string, number>> = { [UNIT.ratio]: 0.1, [UNIT.clock]: 60 };

/** Draws a dashed line at a limit. */
export function withLimit(panel: Timeseries, limit: number): Timeseries {
  return panel
    .thresholds(thresholds([limit, 'red']))
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
}

export function stackedTimeseries(text: PanelText, ...queries: readonly Query[]): Timeseries {
  return timeseries(text, ...queries)
    .fillOpacity(35)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** For values that change slowly and are costly to compute: a point per three minutes of six hours, instead of one per minute. */
export function coarse(panel: Timeseries): Timeseries {
  return panel.maxDataPoints(120);
}

/** For numbers that stay the same for a while, such as those of failing stations. */
export function stackedSteps(text: PanelText, ...queries: readonly Query[]): Timeseries {
  return stackedTimeseries(text, ...queries)
    .lineInterpolation(LineInterpolation.StepAfter)
    .fillOpacity(70);
}

/**
 * For series whose names are not known in advance: the initial of the last word decides about the hue, so that a name has the same one in every
 * chart, and names with the same hue have different shades. The legend has the last values.
 */
export function categories(panel: Timeseries): Timeseries {
  const hues = Object.values(HUE);
  for (const [index, hue] of hues.entries()) {
    const initials = [...INITIALS].filter((_, position) => position % hues.length === index).join('');
    panel.overrideByRegexp(`/(^|[ /])[${initials}][^ /]*( \\([^)]*\\))?$/i`, [shadesOf(hue)]);
  }
  return panel.legend(
    legend().displayMode(LegendDisplayMode.Table).placement(LegendPlacement.Right).calcs(['lastNotNull']),
  );
}

const INITIALS = 'abcdefghijklmnopqrstuvwxyz0123456789';

export function stackedBars(text: PanelText, ...queries: readonly Query[]): Timeseries {
  return stackedTimeseries(text, ...queries)
    .drawStyle(GraphDrawStyle.Bars)
    .lineWidth(0)
    .fillOpacity(70);
}

export function stateTimeline({ title, description, unit, noValue = NO_DATA }: PanelText, query: Query): StateTimeline {
  return new StateTimeline()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue(noValue)
    .withTarget(query)
    .thresholds(neutral())
    .showValue(VisibilityMode.Never)
    .rowHeight(0.8)
    .legend(legend())
    .tooltip(tooltip());
}

/** Its legend would list values, which are all 1. */
export function withoutLegend(panel: StateTimeline): StateTimeline {
  return panel.legend(legend().showLegend(false));
}

export interface Column {
  /** A label, or the value of a query: `Value #B` for query B, `Value` if there is only one query. */
  readonly field: string;
  readonly title: string;
  readonly unit?: string;
  readonly decimals?: number;
  /** By default, the column gets its share of what the others leave. */
  readonly width?: number;
  /** Shows long text in several lines. */
  readonly wrap?: boolean;
  /** Only links read the field. */
  readonly hidden?: boolean;
  readonly mappings?: readonly ValueMapping[];
  /** Applied to the cell's text color. */
  readonly thresholds?: ThresholdsConfigBuilder;
  readonly link?: Link;
}

export const JOB_COLUMN: Column = { field: 'job', title: 'Job' };

/** Tables do not have it where no series has the label. */
export const CLUSTER_COLUMN: Column = { field: CLUSTER, title: 'Cluster' };

export interface Link {
  readonly title: string;
  readonly url: string;
}

/** What a stat counts. */
export function linked(panel: Stat, link: Link): Stat {
  // The SDK types data links as dashboard links; Grafana reads title and URL.
  return panel.dataLinks([{ build: () => link as DashboardLink }]);
}

/** Narrower than Grafana's default, so that the tables fit a laptop's screen. */
const MIN_COLUMN_WIDTH = 120;

interface Order {
  /** A field, which need not be a column. */
  readonly by: string;
  readonly descending: boolean;
  /** Number of rows, unless the queries limit them. */
  readonly limit?: number;
}

/** Merges the results of all queries into rows by their common labels. */
export function table(
  { title, description, noValue = NO_DATA }: Omit<PanelText, 'unit'>,
  queries: readonly Query[],
  columns: readonly Column[],
  { by, descending, limit }: Order,
): Table {
  const panel = new Table()
    .title(title)
    .description(description)
    .unit(UNIT.short)
    .noValue(noValue)
    .targets([...queries])
    .mappings([...EMPTY_CELL])
    .thresholds(neutral())
    .cellHeight(TableCellHeight.Sm)
    .minWidth(MIN_COLUMN_WIDTH)
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({ id: 'sortBy', options: { sort: [{ field: by, desc: descending }] } });
  if (limit !== undefined) panel.withTransformation({ id: 'limit', options: { limitField: limit } });
  panel
    .withTransformation({
      id: 'filterFieldsByName',
      options: { include: { names: columns.map(({ field }) => field) } },
    })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: {},
        indexByName: Object.fromEntries(columns.map(({ field }, index) => [field, index])),
        renameByName: Object.fromEntries(columns.map(({ field, title }) => [field, title])),
      },
    });
  for (const column of columns) {
    const properties = columnProperties(column);
    if (properties.length > 0) panel.overrideByName(column.title, properties);
  }
  return panel;
}

/** A filter button takes room from the header: only columns that readers narrow down have one. */
const FILTERABLE = new Set<string>([
  CLUSTER,
  'job',
  'station',
  'display_name',
  'name',
  'resource_type_label',
  'product',
  'state_label',
  'reason',
  'alertname',
  'job_name',
  'instance',
]);

const HIDDEN: DynamicConfigValue = { id: 'custom.hidden', value: true };

function columnProperties({
  field,
  unit,
  decimals,
  width,
  wrap,
  hidden,
  mappings,
  thresholds,
  link,
}: Column): DynamicConfigValue[] {
  // A link has a color of its own.
  const colored = link === undefined && (mappings !== undefined || thresholds !== undefined);
  return [
    ...(FILTERABLE.has(field) ? [{ id: 'custom.filterable', value: true }] : []),
    ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
    ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
    // Grafana 12.2 renamed the first.
    ...(hidden === true ? [HIDDEN, { id: 'custom.hideFrom.viz', value: true }] : []),
    ...(wrap === true ? [{ id: 'custom.wrapText', value: true }] : []),
    ...(mappings === undefined ? [] : [{ id: 'mappings', value: [...mappings, ...EMPTY_CELL] }]),
    ...(thresholds === undefined ? [] : [{ id: 'thresholds', value: thresholds.build() }]),
    ...(colored ? [{ id: 'custom.cellOptions', value: { type: 'color-text' } }] : []),
    ...(link === undefined ? [] : [{ id: 'links', value: [link] }]),
  ];
}

/** Names and colors the series of each meaning of a state; the others are states of unknown meaning, none, or a field without data. */
export function colorStates<Panel extends Timeseries | StateTimeline>(panel: Panel): Panel {
  const known = [...STATE_SERIES.map(([alertState]) => alertState), NONE, 'Value'].join('|');
  panel.overrideByRegexp(`/^(?!(.*: )?(${known})$)/`, [fixedColor(UNKNOWN_STATE)]);
  for (const [alertState, name, color] of STATE_SERIES) {
    panel.overrideByRegexp(`/: ${alertState}$/`, [fixedColor(color)]);
    panel.overrideByRegexp(`/^${alertState}$/`, [displayName(name), fixedColor(color)]);
  }
  return panel;
}

/** Matches the series of this name, and those whose name the cluster or the upstream precedes. */
export function inAnyCluster(name: string): string {
  return `/(^|: )${name}$/`;
}

/** Colors the series of each failure reason; legends may begin with the cluster or the upstream. */
export function colorReasons(panel: Timeseries): Timeseries {
  for (const [reason, color] of Object.entries(REASON_COLORS))
    panel.overrideByRegexp(inAnyCluster(reason), [fixedColor(color)]);
  return panel.overrideByRegexp(inAnyCluster(NONE), [fixedColor('text')]);
}

function lastValue(): ReduceDataOptionsBuilder {
  return new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false).fields('');
}

function legend(): VizLegendOptionsBuilder {
  return new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.List)
    .placement(LegendPlacement.Bottom)
    .calcs([]);
}

function tooltip(): VizTooltipOptionsBuilder {
  return new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending);
}
