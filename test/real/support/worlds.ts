import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

/** Software that others wrote, between the exporter and a service whose truth is known. */
export interface World {
  readonly world: string;
  readonly promise: string;
  /** Matches every verdict (`truth.ts`) that keeps the promise. */
  readonly publishes: RegExp;
  /** Resolves with the verdicts on what was published. */
  readonly run: () => Promise<readonly string[]>;
}

/** A program, and where it comes from. */
export interface Tool {
  readonly command: string;
  readonly from: string;
}

/** Runs the worlds, and prints a table of what was published in each. Without its tools, it prints which of them are missing. */
export function describeWorlds(title: string, tools: readonly Tool[], worlds: readonly World[]): void {
  const rows: string[] = [];
  afterAll(() => void process.stdout.write(rows.join('')));
  describe.runIf(areInstalled(title, tools))(title, () => {
    it.each(worlds)('$world: $promise', async ({ run, ...world }) => {
      const verdicts = await run();
      rows.push(rowText(title, world, verdicts));
      expect(verdicts).not.toEqual([]);
      expect(verdicts.filter((verdict) => !world.publishes.test(verdict))).toEqual([]);
    });
  });
}

/** A world in which one exporter has an upstream and a station of its own. */
export type MatrixRow = Omit<World, 'run'>;

/** The same for worlds that one exporter is in at once: `run` resolves with the verdicts on each of them, in the same order. */
export function describeMatrix(
  title: string,
  tools: readonly Tool[],
  rows: readonly MatrixRow[],
  run: () => Promise<readonly (readonly string[])[]>,
): void {
  describe.runIf(areInstalled(title, tools))(title, () => {
    it('publishes what is true, or says what is wrong, in every row', async () => {
      const verdicts = await run();
      const texts = rows.map((row, at) => rowText(title, row, verdicts[at] ?? []));
      process.stdout.write(texts.join(''));
      const isKept = ({ publishes }: MatrixRow, at: number) =>
        verdicts[at]?.length !== 0 && verdicts[at]?.every((verdict) => publishes.test(verdict));
      expect(texts.filter((_, at) => !isKept(rows[at] as MatrixRow, at))).toEqual([]);
    });
  });
}

function areInstalled(title: string, tools: readonly Tool[]): boolean {
  const missing = tools.filter(({ command }) => !isInstalled(command));
  for (const { command, from } of missing) reportMissing(title, `${command} is not installed (${from})`);
  return missing.length === 0;
}

/** As `not_checked` of scripts/require.sh. */
function reportMissing(title: string, what: string): void {
  const text = `NOT CHECKED: ${title}: ${what}`;
  if (process.env['CI']) throw new Error(text);
  process.stderr.write(`${text}\n`);
}

function isInstalled(command: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** `nginx | default values | every number is true | 12 true, 3 down: status` */
function rowText(title: string, { world, promise }: Omit<World, 'run'>, verdicts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const verdict of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const published = Array.from(counts, ([verdict, count]) => (count === 1 ? verdict : `${count} × ${verdict}`));
  return `${title} | ${world} | ${promise} | ${published.join(', ')}\n`;
}
