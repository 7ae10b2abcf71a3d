import type { StationSpec } from '../model/station-spec.ts';
import { labelText } from '../model/values.ts';
import { type Resource, resourceLabel } from '../resources/fields.ts';
import type { FamilyDescription, ResourceFamily, StationFamily } from './family.ts';
import type { TextBuffer } from './segment.ts';

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

/** Writes one text per family. */
export function writeStations<Source extends { readonly spec: StationSpec }>(
  families: readonly StationFamily<Source>[],
  sources: readonly Source[],
  buffer: TextBuffer,
): void {
  for (const family of families) {
    buffer.begin(family.name);
    for (const source of sources) buffer.add(stationLines(family, source));
  }
}

function stationLines<Source extends { readonly spec: StationSpec }>(
  family: StationFamily<Source>,
  source: Source,
): string {
  const { spec } = source;
  if (spec.metrics.disabled.has(family.name)) return '';
  const { start, end } = lineEnds(family, spec);
  const resourceLabels = family.hasResourceLabels ? spec.resourceLabels.names : [];
  const names = [...family.labels.slice(family.hasStationLabels ? 2 : 1), ...resourceLabels];
  let lines = '';
  for (const [value, ...values] of family.samples(source)) {
    lines += start;
    for (let at = 0; at < values.length; at += 1) lines += labelPair(names[at] as string, values[at] as string);
    lines += `${end}${sampleValue(value)}\n`;
  }
  return lines;
}

/** What the lines of a family begin and end with, the same for all samples of a station: its name, its upstream and its labels. */
function lineEnds(
  { name, hasResourceLabels, hasStationLabels }: FamilyDescription,
  { name: station, upstream, labels, resourceLabels }: StationSpec,
): { readonly start: string; readonly end: string } {
  const start = `${name}{station="${escapeLabelValue(labelText(station))}"`;
  if (!hasStationLabels) return { start, end: '} ' };
  // A label that resources have is theirs: their owner may be another than that of the station.
  const isOfResources = (label: string) => hasResourceLabels === true && resourceLabels.names.includes(label);
  const pairs = Object.entries(labels).filter(([label]) => !isOfResources(label));
  const texts = pairs.map(([label, text]) => labelPair(label, text));
  return { start: start + labelPair('upstream', upstream), end: `${texts.join('')}} ` };
}

/** With the comma before it: it is never the first label. */
function labelPair(label: string, text: string): string {
  return `,${label}="${escapeLabelValue(labelText(text))}"`;
}

/** Lines concatenated before they are written to the buffer: few enough that the string dies in V8's new space. */
const RESOURCES_PER_TEXT = 64;

/** Writes one text per family. */
export function writeResources(
  spec: StationSpec,
  resources: readonly Resource[],
  families: readonly ResourceFamily[],
  buffer: TextBuffer,
): void {
  const identities = resources.map(({ id, name }) => `${escapeLabelValue(id)}",name="${escapeLabelValue(name)}`);
  for (const family of families) {
    const lineOf = resourceLine(family, spec);
    buffer.begin(family.name);
    let text = '';
    for (let index = 0; index < resources.length; index += 1) {
      text += lineOf(resources[index] as Resource, identities[index] as string);
      if (index % RESOURCES_PER_TEXT === RESOURCES_PER_TEXT - 1) {
        buffer.add(text);
        text = '';
      }
    }
    buffer.add(text);
  }
}

/** Returns the line of a resource, '' for none. `identity` is its id and its name without the first and the last quote. */
function resourceLine(family: ResourceFamily, spec: StationSpec): (resource: Resource, identity: string) => string {
  const { labels, sample, hasResourceLabels } = family;
  const ends = lineEnds(family, spec);
  const start = `${ends.start},resource_id="`;
  const end = `"${ends.end}`;
  // Each closes the value before it: every concatenation allocates.
  const openings = labels.slice(labels.indexOf('name') + 1).map((label) => `",${label}="`);
  const resourceLabels = hasResourceLabels ? spec.resourceLabels.names : [];
  const extra = resourceLabels.map((label) => [label, `",${label}="`] as const);
  return (resource, identity) => {
    const values = sample(resource);
    if (values === undefined) return '';
    let line = start + identity;
    for (let at = 0; at < openings.length; at += 1) line += openings[at] + escapeLabelValue(values[at + 1] as string);
    for (const [label, opening] of extra) line += opening + escapeLabelValue(resourceLabel(resource, label));
    return `${line}${end}${sampleValue(values[0])}\n`;
  };
}

/** A sample value in the syntax of both formats; none is -Inf. */
function sampleValue(value: number): string {
  return value === Number.POSITIVE_INFINITY ? '+Inf' : String(value);
}

function escapeLabelValue(value: string): string {
  return NEEDS_ESCAPE.test(value) ? value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : value;
}

const NEEDS_ESCAPE = /[\\"\n]/;
