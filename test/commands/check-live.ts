import { configFlag, resultOf } from '../e2e/running-program.ts';

/** The output and exit code of `check --live` for a configuration. */
export async function checkLive(config: object, ...flags: string[]) {
  const result = await resultOf(['check', '--live', configFlag(config), ...flags]);
  return { ...result, cell: (row: string, column: string) => cellOf(result.stdout, row, column) };
}

/** The cell of a column, in the row that starts with the name. */
function cellOf(text: string, row: string, column: string): string | undefined {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.split(/ {2,}/).includes(column));
  const heading = lines[at] ?? '';
  const line = lines.slice(at + 1).find((candidate) => candidate.startsWith(`${row} `)) ?? '';
  const start = heading.indexOf(column);
  // A right-aligned cell ends below its heading; any other starts below it.
  const [left] = /\S*$/.exec(line.slice(0, start)) ?? [''];
  return /^.*?(?= {2}|$)/.exec(line.slice(start - left.length).trimStart())?.[0];
}
