import type { StationSpec } from '../model/station-spec.ts';
import { labelText } from '../model/values.ts';
import type { FamilyDescription, StationFamily } from './family.ts';
import type { FamilyText } from './segment.ts';

export type ExpositionFormat = 'text' | 'openmetrics';

/** A family of the catalogue or of a prom-client registry, whose enumeration of types has other values than at run time. */
interface Described extends Pick<FamilyDescription, 'name' | 'help'> {
  readonly type: unknown;
}

/** The HELP and TYPE lines of a family, the only lines that differ between the formats. No help has characters to escape. */
export function familyHeader({ name, help, type }: Described, format: ExpositionFormat): string {
  const family = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  return `# HELP ${family} ${help}\n# TYPE ${family} ${type}\n`;
}

/** The type of prom-client omits the metric names of a histogram's samples. */
interface CollectedFamily extends Described {
  readonly values: readonly { readonly value: number; readonly labels: object; readonly metricName?: string }[];
}

/** Encoded here because prom-client's OpenMetrics output renames the counters in its registry. */
export function familiesText(
  families: readonly CollectedFamily[],
  format: ExpositionFormat,
  disabled?: ReadonlySet<string>,
): string {
  let text = '';
  for (const family of families) {
    if (disabled?.has(family.name)) continue;
    text += familyHeader(family, format);
    for (const { value, labels, metricName = family.name } of family.values) {
      const pairs = Object.entries(labels).map(([name, label]) => `${name}="${escapeLabelValue(String(label))}"`);
      text += `${metricName}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${sampleValue(value)}\n`;
    }
  }
  return text;
}

/** A text per family and station. `rowLabels`: names of the labels that families with `hasRowLabels` also have. */
export function* stationTexts<Source extends { readonly spec: StationSpec }>(
  families: readonly StationFamily<Source>[],
  sources: readonly Source[],
  rowLabels: readonly string[] = [],
): Iterable<FamilyText> {
  for (const family of families)
    for (const source of sources) yield [family.name, stationLines(family, source, rowLabels)];
}

function stationLines<Source extends { readonly spec: StationSpec }>(
  family: StationFamily<Source>,
  source: Source,
  rowLabels: readonly string[],
): string {
  const { spec } = source;
  if (spec.metrics.disabled.has(family.name)) return '';
  const { start, end } = lineEnds(family, spec, rowLabels);
  const names = [...family.labels.slice(family.hasStationLabels ? 2 : 1), ...(family.hasRowLabels ? rowLabels : [])];
  let lines = '';
  for (const [value, ...values] of family.samples(source)) {
    lines += start;
    for (let at = 0; at < values.length; at += 1) lines += labelPair(names[at] as string, values[at] as string);
    lines += `${end}${sampleValue(value)}\n`;
  }
  return lines;
}

/** What the lines of a family begin and end with, the same for all samples of a station: its name, its upstream and its labels. */
export function lineEnds(
  { name, hasRowLabels, hasStationLabels }: FamilyDescription,
  { name: station, upstream, labels }: StationSpec,
  rowLabels: readonly string[],
): { readonly start: string; readonly end: string } {
  const start = `${name}{station="${escapeLabelValue(labelText(station))}"`;
  if (!hasStationLabels) return { start, end: '} ' };
  // A label that rows have is theirs: their owner may be another than that of the station.
  const isOfRows = (label: string) => hasRowLabels === true && rowLabels.includes(label);
  const pairs = Object.entries(labels).filter(([label]) => !isOfRows(label));
  const texts = pairs.map(([label, text]) => labelPair(label, text));
  return { start: start + labelPair('upstream', upstream), end: `${texts.join('')}} ` };
}

function labelPair(label: string, text: string): string {
  return `,${label}="${escapeLabelValue(labelText(text))}"`;
}

/** A sample value in the syntax of both formats; none is -Inf. */
export function sampleValue(value: number): string {
  return value === Number.POSITIVE_INFINITY ? '+Inf' : String(value);
}

export function escapeLabelValue(value: string): string {
  return NEEDS_ESCAPE.test(value) ? value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : value;
}

const NEEDS_ESCAPE = /[\\"\n]/;
