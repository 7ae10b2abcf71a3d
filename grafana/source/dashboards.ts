import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { exporter } from './exporter.ts';
import { fleet } from './fleet.ts';
import { resources } from './resources.ts';
import { station } from './station.ts';

/** By file name in grafana/dashboards; CLUSTER stands for the name of the label. */
export const dashboards: Readonly<Record<string, Dashboard>> = {
  'fleet.json': fleet,
  'station.json': station,
  'resources.json': resources,
  'exporter.json': exporter,
};
