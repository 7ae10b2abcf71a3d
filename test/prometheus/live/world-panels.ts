import { expect } from 'vitest';
import {
  panelsOf,
  type ShippedDashboard,
  type ShippedPanel,
  type ShippedTarget,
  shippedDashboards,
} from '../../grafana/shipped-dashboards.ts';
import { allSelected, type QueryResult, runTarget } from './dashboard-queries.ts';
import type { RunningPrometheus } from './prometheus.ts';
import { NOW_S } from './world-series.ts';
import { FIRING_RESOURCE, WORLDS, type WorldName } from './worlds.ts';

export const dashboards = Object.fromEntries(shippedDashboards());
const dashboardOf = (file: string): ShippedDashboard => dashboards[file] ?? expect.unreachable(file);
const RANGE_S = 6 * 3600;

/** A panel has at least as many points as fit into its width, unless it limits them. */
const stepOf = ({ maxDataPoints = 360 }: ShippedPanel) => Math.ceil(RANGE_S / maxDataPoints);

/** What the panels show in each world. */
export class WorldPanels {
  readonly #prometheus: RunningPrometheus;
  /** By query and world: several tests look at the same panel. */
  readonly #results = new Map<string, Promise<QueryResult>>();

  constructor(prometheus: RunningPrometheus) {
    this.#prometheus = prometheus;
  }

  run(
    dashboard: ShippedDashboard,
    panel: ShippedPanel,
    target: ShippedTarget,
    world: WorldName,
    values: Readonly<Record<string, string>> = {},
  ) {
    const selected = {
      __rate_interval: '4m',
      __range: '6h',
      resource_id: FIRING_RESOURCE.resource_id,
      job: WORLDS[world],
      ...values,
    };
    const key = JSON.stringify([target.expr, target.range, selected]);
    const range = { end: NOW_S, seconds: RANGE_S, step: stepOf(panel) };
    const result =
      this.#results.get(key) ?? runTarget(this.#prometheus, target, { ...allSelected(dashboard), ...selected }, range);
    this.#results.set(key, result);
    return result;
  }

  /** The result of each query of a panel. */
  async resultsOf(file: string, title: string, world: WorldName, values?: Readonly<Record<string, string>>) {
    const panel =
      panelsOf(dashboardOf(file)).find((candidate) => candidate.title === title) ??
      expect.unreachable(`${file}: ${title}`);
    const answers = await Promise.all(
      (panel.targets ?? []).map((target) => this.run(dashboardOf(file), panel, target, world, values)),
    );
    return answers.map(({ result }) => result);
  }

  /** What a stat shows; `null` for no data. */
  async shownValue(file: string, title: string, world: WorldName): Promise<number | null> {
    const [[first] = []] = await this.resultsOf(file, title, world);
    return first === undefined ? null : Number(first.value[1]);
  }

  /** The results of all queries of all dashboards, a line per panel, as the tests of test/grafana/display read them. */
  async recorded(world: WorldName, values: Readonly<Record<string, string>>): Promise<string> {
    const lines: string[] = [];
    for (const [file, dashboard] of Object.entries(dashboards)) {
      for (const { title } of panelsOf(dashboard)) {
        const results = (await this.resultsOf(file, title, world, values)).map(recordedResult);
        lines.push(JSON.stringify([`${file}: ${title}`, ...results]));
      }
    }
    return `${lines.join('\n')}\n`;
  }

  /** The panels with a query that returns nothing. */
  async emptyPanels(file: string, world: WorldName): Promise<string[]> {
    const empty: string[] = [];
    for (const { title } of panelsOf(dashboardOf(file))) {
      if ((await this.resultsOf(file, title, world)).some((result) => result.length === 0)) empty.push(title);
    }
    return empty;
  }
}

/** Labels and value of each series that has one at the end of the time range, in a stable order and without the last digits. */
function recordedResult(result: QueryResult['result']): [labels: object, value: number][] {
  const rows = result.flatMap(({ metric, value, values = [] }): [object, number][] => {
    const [time, text] = value ?? values.at(-1) ?? [];
    const labels = Object.entries(metric).toSorted(([left], [right]) => (left < right ? -1 : 1));
    return time === NOW_S ? [[Object.fromEntries(labels), Number(Number(text).toPrecision(12))]] : [];
  });
  return rows.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
}
