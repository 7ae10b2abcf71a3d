import { PanelBuilder as BarGauge } from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BarGaugeDisplayMode,
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StateTimeline } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as Timeseries } from '@grafana/grafana-foundation-sdk/timeseries';
import { fixedColor, plain, stateColors } from './appearance.ts';

/** What every panel says of itself. */
export interface About {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  /** Shown instead of data when there is none. */
  readonly nothing: string;
}

type Target = Builder<Dataquery>;

export function stat({ title, description, unit, nothing }: About, target: Target): Stat {
  return new Stat()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue(nothing)
    .withTarget(target)
    .thresholds(plain())
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(lastValue());
}

export function timeseries({ title, description, unit, nothing }: About, ...targets: readonly Target[]): Timeseries {
  return new Timeseries()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue(nothing)
    .targets([...targets])
    .lineWidth(1)
    .fillOpacity(8)
    .showPoints(VisibilityMode.Never)
    .axisSoftMin(0)
    .legend(legend())
    .tooltip(tooltip());
}

/** Parts of a whole. */
export function stacked(about: About, ...targets: readonly Target[]): Timeseries {
  return timeseries(about, ...targets)
    .fillOpacity(35)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** What happened in each interval. */
export function bars(about: About, ...targets: readonly Target[]): Timeseries {
  return stacked(about, ...targets)
    .drawStyle(GraphDrawStyle.Bars)
    .fillOpacity(70);
}

/** The largest first, one below the other. */
export function ranking({ title, description, unit, nothing }: About, target: Target): BarGauge {
  return new BarGauge()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue(nothing)
    .withTarget(target)
    .min(0)
    .thresholds(plain())
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassic))
    .displayMode(BarGaugeDisplayMode.Basic)
    .orientation(VizOrientation.Horizontal)
    .reduceOptions(lastValue());
}

export function timeline({ title, description, unit, nothing }: About, target: Target): StateTimeline {
  return new StateTimeline()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue(nothing)
    .withTarget(target)
    .showValue(VisibilityMode.Never)
    .rowHeight(0.8)
    .legend(legend())
    .tooltip(tooltip());
}

/** Gives each state the colour it has everywhere, and shows it without what all states begin with. */
export function colorStates(panel: Timeseries): Timeseries {
  for (const [regexp, color] of stateColors) panel.overrideByRegexp(regexp, [fixedColor(color)]);
  return withoutPrefix(panel, 'ALERTSTATE_');
}

export function withoutPrefix<Panel extends Timeseries | BarGauge>(panel: Panel, prefix: string): Panel {
  panel.withTransformation({ id: 'renameByRegex', options: { regex: `^${prefix.replaceAll('.', '\\.')}(.*)`, renamePattern: '$1' } });
  return panel;
}

function lastValue(): ReduceDataOptionsBuilder {
  return new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false).fields('');
}

function legend(): VizLegendOptionsBuilder {
  return new VizLegendOptionsBuilder().showLegend(true).displayMode(LegendDisplayMode.List).placement(LegendPlacement.Bottom).calcs([]);
}

function tooltip(): VizTooltipOptionsBuilder {
  return new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending);
}
