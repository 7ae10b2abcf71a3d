import type { FamilyDescription } from './family.ts';

export type ExpositionFormat = 'text' | 'openmetrics';

/** The HELP and TYPE lines of a family, the only lines that differ between the formats. */
export function familyHeader(
  { name, help, type }: Pick<FamilyDescription, 'name' | 'help'> & { type: string },
  format: ExpositionFormat,
): string {
  const family = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  return `# HELP ${family} ${escapeHelp(help, format)}\n# TYPE ${family} ${type}\n`;
}

/** A family of a prom-client registry; the type of prom-client omits the metric names of a histogram's samples. */
interface CollectedFamily extends Pick<FamilyDescription, 'name' | 'help'> {
  readonly type: unknown;
  readonly values: readonly { readonly value: number; readonly labels: object; readonly metricName?: string }[];
}

/** Encoded here because prom-client's OpenMetrics output renames the counters in its registry. */
export function familyText(family: CollectedFamily, format: ExpositionFormat): string {
  const lines = family.values.map(({ value, labels, metricName = family.name }) => {
    const pairs = labelPairs(Object.keys(labels), Object.values(labels).map(String));
    return `${metricName}${pairs === '' ? '' : `{${pairs}}`} ${sampleValue(value)}\n`;
  });
  return familyHeader({ ...family, type: String(family.type) }, format) + lines.join('');
}

/** `name="value"` for each label, joined by commas. */
export function labelPairs(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeLabelValue(values[index] ?? '')}"`).join(',');
}

/** A sample value in the syntax of both formats. */
export function sampleValue(value: number): string {
  if (Math.abs(value) === Number.POSITIVE_INFINITY) return value > 0 ? '+Inf' : '-Inf';
  return String(value);
}

export function escapeLabelValue(value: string): string {
  return NEEDS_ESCAPE.test(value) ? value.replace(/[\\"\n]/g, (character) => ESCAPED[character] ?? character) : value;
}

const NEEDS_ESCAPE = /[\\"\n]/;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function escapeHelp(help: string, format: ExpositionFormat): string {
  return format === 'openmetrics' ? escapeLabelValue(help) : help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
