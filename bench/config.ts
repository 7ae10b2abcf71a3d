import { loadConfig } from '../src/config/load.ts';
import { type Figure, figure } from './figure.ts';
import { medianOf } from './load.ts';

const STATIONS = 4000;

/** The cost of rejecting a configuration, relative to loading a valid one of the same size. */
export async function configFigures(): Promise<Figure[]> {
  const validMs = await medianOf(5, 2, () => loadMs('alertability', 0));
  const rejectedMs = await medianOf(5, 2, () => loadMs('alertabilty', STATIONS));
  return [
    figure('load of 4,000 stations, CPU', validMs, 'ms'),
    figure('load of 4,000 stations with one misspelt key each, CPU', rejectedMs, 'ms'),
    figure('rejected relative to valid', rejectedMs / validMs, '×', 2),
  ];
}

async function loadMs(key: string, expectedProblems: number): Promise<number> {
  const stations = Array.from(
    { length: STATIONS },
    (_, index) =>
      `  - subscription: s\n    resource_group: g\n    zone: z\n    telemetry_station: ts-${index}\n    labels: { team: a }\n    ${key}: true\n`,
  );
  const text = `upstreams: { main: { base_url: "http://service" } }\nstations:\n${stations.join('')}`;
  const before = process.cpuUsage();
  const result = await loadConfig({ file: 'bench.yaml', text, env: {} });
  const { user, system } = process.cpuUsage(before);
  const problems = result.ok ? 0 : result.problems.length;
  if (problems !== expectedProblems) throw new Error(`expected ${expectedProblems} problems, got ${problems}`);
  return (user + system) / 1000;
}
