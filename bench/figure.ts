/** A measured value and its goal. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Without a goal, the value is for information only. */
  readonly goal?: { readonly max: number; readonly text: string };
}

export function figure(
  name: string,
  value: number,
  unit: string,
  max?: number,
  text = `at most ${max} ${unit}`,
): Figure {
  return { name, value, unit, ...(max !== undefined && { goal: { max, text } }) };
}

/** A figure of several runs. */
export interface Measured extends Omit<Figure, 'value'> {
  readonly values: readonly number[];
}

/** The figures of several runs of one benchmark, which are the same in every run but for their values. */
export function merged(runs: readonly (readonly Figure[])[]): readonly Measured[] {
  const [first = []] = runs;
  return first.map(({ value: _value, ...figure }, at) => ({
    ...figure,
    values: runs.map((run) => run[at]?.value ?? Number.NaN),
  }));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function markdownTable(figures: readonly Measured[]): string {
  const rows = figures.map(({ name, values, unit, goal }) => {
    const goalCell = goal === undefined ? '' : `${goal.text}, ${met(values, goal.max)}`;
    return `| ${name} | ${withRange(values, unit)} | ${goalCell} |`;
  });
  return ['| figure | measured | goal |', '|---|---|---|', ...rows].join('\n');
}

/** The median, with the range in parentheses if there is more than one run. */
function withRange(values: readonly number[], unit: string): string {
  const range = values.length > 1 ? ` (${formatted(Math.min(...values))}–${formatted(Math.max(...values))})` : '';
  return `${formatted(median(values))} ${unit}${range}`;
}

function met(values: readonly number[], max: number): string {
  const count = values.filter((value) => value <= max).length;
  if (count === values.length) return 'met';
  return count === 0 ? '**not met**' : `met in ${count} of ${values.length} runs`;
}

export function formatted(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
