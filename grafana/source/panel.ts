import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueJustifyMode,
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableCellHeight,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTextDisplayOptionsBuilder,
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
import {
  EMPTY_CELL,
  fixedColor,
  HUE,
  NO_DATA,
  neutral,
  STATE_COLORS,
  shadesOf,
  thresholds,
  UNIT,
} from './appearance.ts';

interface PanelText {
  readonly title: string;
  readonly description: string;
  readonly unit?: string;
  /** Shown when the queries return no data. */
  readonly noValue?: string;
}

export interface Link {
  readonly title: string;
  readonly url: string;
}

type Query = Builder<Dataquery>;

export function stat(
  { title, description, unit = UNIT.count, noValue = NO_DATA, link }: PanelText & { readonly link?: Link },
  ...queries: readonly Query[]
): Stat {
  const panel = new Stat()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue(noValue)
    .targets([...queries])
    .thresholds(neutral())
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .justifyMode(BigValueJustifyMode.Center)
    .text(textSizes(13, 30))
    .reduceOptions(reduceOptions(''));
  // The SDK types data links as dashboard links; Grafana reads title and URL.
  return link === undefined ? panel : panel.dataLinks([{ build: () => link as DashboardLink }]);
}

/** Of the names of values, and of the values. */
export function textSizes(titleSize: number, valueSize: number): VizTextDisplayOptionsBuilder {
  return new VizTextDisplayOptionsBuilder().titleSize(titleSize).valueSize(valueSize);
}

function reduceOptions(fields: string): ReduceDataOptionsBuilder {
  return new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false).fields(fields);
}

/** Shows the latest value within 15 minutes, if the exporter is down. The queries are range queries. */
export function lastKnownStat(text: PanelText & { readonly link?: Link }, ...queries: readonly Query[]): Stat {
  return stat(text, ...queries)
    .timeFrom('15m')
    .hideTimeOverride(true);
}

/** Shows a label of a series, in the color of its mapping. The query is one of a table. */
export function labelStat(text: PanelText, label: string, query: Query): Stat {
  return stat(text, query).reduceOptions(reduceOptions(`/^${label}$/`));
}

export function timeseries(
  { title, description, unit = UNIT.count, noValue = NO_DATA }: PanelText,
  ...queries: readonly Query[]
): Timeseries {
  const panel = new Timeseries()
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
    .legend(legend())
    .tooltip(tooltip());
  return unit === UNIT.count ? panel.decimals(0) : panel;
}

/** The least end of an axis: a chart of small counts has no fractions, and one that is 0 all the time does not end at 100. */
const SOFT_MAX: Readonly<Record<string, number>> = {
  [UNIT.count]: 5,
  [UNIT.minutes]: 5,
  [UNIT.seconds]: 0.1,
  [UNIT.ratio]: 0.1,
  [UNIT.requestsPerSecond]: 0.01,
};

/** Draws a dashed line at a limit. */
export function withLimit(panel: Timeseries, limit: number): Timeseries {
  return panel
    .thresholds(thresholds([limit, 'red']))
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
}

export function stackedBars(text: PanelText, ...queries: readonly Query[]): Timeseries {
  return timeseries(text, ...queries)
    .maxDataPoints(MAX_BARS)
    .drawStyle(GraphDrawStyle.Bars)
    .lineWidth(0)
    .fillOpacity(70)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** Each of them is longer than the time between two scrapes, for most time ranges. */
const MAX_BARS = 50;

export function stateTimeline({ title, description, noValue = NO_DATA }: PanelText, query: Query): StateTimeline {
  return (
    new StateTimeline()
      .title(title)
      .description(description)
      .noValue(noValue)
      .withTarget(query)
      // Without a series, the result is a frame without a field, of which Grafana would say that it has no time: this drops it.
      .withTransformation({ id: 'filterFieldsByName', options: { include: { pattern: '.*' } } })
      .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor('red'))
      .showValue(VisibilityMode.Never)
      .rowHeight(0.8)
      .legend(legend().showLegend(false))
      .tooltip(tooltip())
  );
}

/** Colors the series that are named after the values of `alert_state`, or begin with them. */
export function colorStates<Panel extends Timeseries | StateTimeline>(panel: Panel): Panel {
  for (const [state, color] of Object.entries(STATE_COLORS))
    panel.overrideByRegexp(`/^${state}/i`, [fixedColor(color)]);
  return panel;
}

/**
 * Colors series whose names are not known in advance, by the beginning of the name, or by its end without a port: those of a name are the same in
 * every chart, and names with the same hue have different shades.
 */
export function colorNames(panel: Timeseries, by: 'beginning' | 'end'): Timeseries {
  const hues = Object.values(HUE);
  for (const [index, hue] of hues.entries()) {
    const characters = [...CHARACTERS].filter((_, position) => position % hues.length === index).join('');
    panel.overrideByRegexp(by === 'beginning' ? `/^[${characters}]/i` : `/[${characters}](:\\d+)?$/i`, [shadesOf(hue)]);
  }
  return panel;
}

/** In an order that gives different hues to the first pods, and to names such as main, east, north, west and south. */
const CHARACTERS = '0123456789xzmenwsapcbdfghijkloqrtuvy';

export interface Column {
  /** A label, or the value of a query: `Value #B` for query B, `Value` if there is only one query. */
  readonly field: string;
  /** By default, the name of the field. */
  readonly title?: string;
  readonly unit?: string;
  readonly decimals?: number;
  /** By default, the column gets its share of what the others leave. */
  readonly width?: number;
  readonly mappings?: readonly ValueMapping[];
  /** Applied to the cell's text color. */
  readonly thresholds?: ThresholdsConfigBuilder;
  readonly links?: readonly Link[];
  /** Draws the value as a bar. */
  readonly bar?: boolean;
  /** Only links read the field. */
  readonly hidden?: boolean;
  /** How the rows of a group become one; by default, the largest of values, while labels make the groups. */
  readonly reduce?: Reduction;
}

type Reduction = 'max' | 'min' | 'sum' | 'first' | 'uniqueValues';

interface Order {
  readonly by: string;
  readonly descending?: boolean;
}

interface TableSource {
  readonly queries: readonly Query[];
  readonly columns: readonly Column[];
  /** The first one decides. */
  readonly order: readonly Order[];
  readonly limit?: number;
}

/**
 * A row for each combination of the labels among the columns that are not reduced. Grouping drops the results when no query returns anything, so that
 * Grafana shows the text of the panel instead of headings.
 */
export function table(
  { title, description, noValue = NO_DATA }: PanelText,
  { queries, columns, order, limit = 500 }: TableSource,
): Table {
  const fields = columns.map((column) => {
    const reduction = reductionOf(column);
    return { ...column, grouped: reduction === undefined ? column.field : `${column.field} (${reduction})` };
  });
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
    .withTransformation({
      id: 'groupBy',
      options: { fields: Object.fromEntries(columns.map(({ field }) => [field, grouping(field, columns)])) },
    });
  for (const { by, descending = false } of order.toReversed())
    panel.withTransformation({ id: 'sortBy', options: { sort: [{ field: by, desc: descending }] } });
  panel.withTransformation({ id: 'limit', options: { limitField: limit } }).withTransformation({
    id: 'organize',
    options: {
      excludeByName: {},
      indexByName: Object.fromEntries(fields.map(({ grouped }, index) => [grouped, index])),
      renameByName: Object.fromEntries(fields.map(({ grouped, field, title = field }) => [grouped, title])),
    },
  });
  for (const column of columns) panel.overrideByName(column.title ?? column.field, columnProperties(column));
  return panel;
}

/** Narrower than Grafana's default, so that the tables fit a laptop's screen. */
const MIN_COLUMN_WIDTH = 80;

/** Of a column with a date and a time. */
export const TIME_WIDTH = 160;

function reductionOf({ field, reduce }: Column): Reduction | undefined {
  return reduce ?? (field.startsWith('Value') ? 'max' : undefined);
}

/** A field can be in several columns, each with a reduction of its own. */
function grouping(field: string, columns: readonly Column[]): object {
  const aggregations = columns
    .filter((column) => column.field === field)
    .flatMap((column) => reductionOf(column) ?? []);
  return { operation: aggregations.length === 0 ? 'groupby' : 'aggregate', aggregations };
}

function columnProperties(column: Column): DynamicConfigValue[] {
  const { unit, decimals, width, mappings, thresholds, links, bar = false, hidden = false } = column;
  // A link has a color of its own.
  const colored = links === undefined && (mappings !== undefined || thresholds !== undefined);
  return [
    ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
    ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
    ...(mappings === undefined ? [] : [{ id: 'mappings', value: [...mappings, ...EMPTY_CELL] }]),
    ...(thresholds === undefined ? [] : [{ id: 'thresholds', value: thresholds.build() }]),
    ...(colored ? [{ id: 'custom.cellOptions', value: { type: 'color-text' } }] : []),
    ...(links === undefined ? [] : [{ id: 'links', value: links }]),
    ...(bar ? BAR : []),
    // Grafana 12.2 renamed the first.
    ...(hidden
      ? [
          { id: 'custom.hidden', value: true },
          { id: 'custom.hideFrom.viz', value: true },
        ]
      : []),
  ];
}

const BAR: readonly DynamicConfigValue[] = [
  { id: 'custom.cellOptions', value: { type: 'gauge', mode: 'basic', valueDisplayMode: 'text' } },
  { id: 'min', value: 0 },
  fixedColor('blue'),
];

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
