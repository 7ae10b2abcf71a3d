import { expect } from 'vitest';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';

export const RID = '/subscriptions/sub/resourceGroups/rg/zones/z1/telemetryStations/ts';

/** Problems without the file name `conf/config.yaml`. */
export async function problemsOf(text: string, env: Record<string, string> = {}): Promise<readonly string[]> {
  const result = await loadConfig({ file: 'conf/config.yaml', text, env });
  return result.ok ? [] : result.problems.map(formatProblem).map((line) => line.replace('conf/config.yaml:', ''));
}

/** Expects exactly these problems of a text, in this order. */
export async function expectProblems(text: string, ...problems: readonly (string | RegExp)[]): Promise<void> {
  const expected = problems.map((problem) => (typeof problem === 'string' ? problem : expect.stringMatching(problem)));
  expect(await problemsOf(text)).toEqual(expected);
}

export async function loaded(text: string, env: Record<string, string> = {}): Promise<LoadedConfig> {
  const result = await loadConfig({ file: 'conf/config.yaml', text, env });
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result;
}

/** A file with these lines in the upstream `main`; the first is line 4 and starts at column 5. */
export function upstreamWith(...lines: readonly string[]): string {
  const rest = lines.map((line) => `    ${line}\n`).join('');
  return `upstreams:\n  main:\n    base_url: https://monitor.example.com\n${rest}stations:\n  - rid: ${RID}\n`;
}

/** The smallest configuration, in five lines. */
export const VALID = upstreamWith();

/** With these lines of a link after it; the first is line 7. */
export const withLink = (...lines: readonly string[]) => `${VALID}links:\n  - ${lines.join('\n    ')}\n`;

/** With these entries of resource_labels after it; the first is line 7. */
export const withEntries = (...entries: readonly string[]) =>
  [`${VALID}resource_labels:`, ...entries.map((entry) => `  - ${entry}`), ''].join('\n');

/** Two upstreams, and these lines after them; the first is line 4. */
export const fleet = (...lines: readonly string[]) =>
  ['upstreams:', '  main: { base_url: "http://h" }', '  second: { base_url: "http://h" }', ...lines, ''].join('\n');

/** A file with these lines in the first station; the first is line 4 and starts at column 5. */
export function stationWith(first: string, ...lines: readonly string[]): string {
  const rest = lines.map((line) => `    ${line}\n`).join('');
  return `upstreams: { main: { base_url: "https://monitor.example.com" } }\n\nstations:\n  - ${first}\n${rest}`;
}
