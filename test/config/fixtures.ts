import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';

export const RID = '/subscriptions/sub/resourceGroups/rg/zones/z1/telemetryStations/ts';

/** The file in use is `conf/config.yaml`. */
export function problemsOf(text: string, env: Record<string, string> = {}): readonly string[] {
  const result = loadConfig({ file: 'conf/config.yaml', text, env });
  return result.ok ? [] : result.problems.map(formatProblem).map((line) => line.replace('conf/config.yaml:', ''));
}

export function loaded(text: string, env: Record<string, string> = {}): LoadedConfig {
  const result = loadConfig({ file: 'conf/config.yaml', text, env });
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result;
}

/** A valid file but for these lines of the upstream `main`; the first of them is line 4, from column 5 on. */
export function upstreamWith(...lines: readonly string[]): string {
  const rest = lines.map((line) => `    ${line}\n`).join('');
  return `upstreams:\n  main:\n    base_url: https://monitor.example.com\n${rest}stations:\n  - rid: ${RID}\n`;
}

/** A valid file but for these lines of the first station; the first of them is line 4, from column 5 on. */
export function stationWith(first: string, ...lines: readonly string[]): string {
  const rest = lines.map((line) => `    ${line}\n`).join('');
  return `upstreams: { main: { base_url: "https://monitor.example.com" } }\n\nstations:\n  - ${first}\n${rest}`;
}
