import { expect } from 'vitest';
import { colorOf } from '../../grafana/display.ts';
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
import { FIRING_RESOURCE, type WorldName } from './worlds.ts';

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
      job: world,
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

  /** The color of each stat. */
  async colorsOf(file: string, world: WorldName): Promise<Record<string, string>> {
    const stats = panelsOf(dashboardOf(file)).filter(({ type }) => type === 'stat');
    const colors = stats.map(async (panel) => [
      panel.title,
      colorOf(panel, await this.shownValue(file, panel.title, world)),
    ]);
    return Object.fromEntries(await Promise.all(colors));
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
