/** One measured figure and what it is held against. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Undefined: shown for information alone. */
  readonly goal?: { readonly most: number; readonly text: string };
}

export function markdownTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, value, unit, goal }) => {
    const verdict = goal === undefined ? '' : value <= goal.most ? 'yes' : '**no**';
    return `| ${name} | ${shown(value)} ${unit} | ${goal?.text ?? ''} | ${verdict} |`;
  });
  return ['| figure | measured | goal | reached |', '|---|---|---|---|', ...rows].join('\n');
}

function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
