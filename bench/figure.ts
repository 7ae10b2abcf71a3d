/** A measured value and its goal. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Without a goal, the value is for information only. */
  readonly goal?: { readonly max: number; readonly text: string };
}

export function markdownTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, value, unit, goal }) => {
    const met = goal === undefined ? '' : value <= goal.max ? 'yes' : '**no**';
    return `| ${name} | ${formatted(value)} ${unit} | ${goal?.text ?? ''} | ${met} |`;
  });
  return ['| figure | measured | goal | met |', '|---|---|---|---|', ...rows].join('\n');
}

function formatted(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
