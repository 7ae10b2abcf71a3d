import { type Labels, where } from './labels.ts';
import type { PrometheusRule } from './rules.ts';

/** An alert as Alertmanager gets it. */
export interface SentAlert {
  readonly rule: PrometheusRule;
  readonly labels: Labels;
}

/** The labels of `telemetry_station_up` that the expression of an alert keeps, beside job and cluster, by the rest of its name; others keep all. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  UpstreamDown: ['upstream'],
  Overloaded: ['upstream'],
  ReplicaFailing: ['instance'],
  ExporterDown: ['instance', 'pod'],
  ExporterReloadFailed: ['instance', 'pod'],
  ExporterAbsent: [],
  ShardsIncomplete: [],
  AlertableWithoutRules: ['station'],
};

/** Labels that it has beside those. */
const ADDED: Readonly<Record<string, Labels>> = {
  ExporterReloadFailed: { config: 'main' },
  CapacityDropped: { unit: 'GPU' },
  ResourceFiring: { resource_id: 'id', name: 'name', display_name: 'name', resource_type: 'type' },
};

/** Alerts about resources also have the labels of an owner. */
const OF_RESOURCES = ['ResourceFiring', 'AlertableWithoutRules'];

interface Subjects {
  /** Series of `telemetry_station_up`. */
  readonly stations: readonly Labels[];
  /** Labels that `resource_labels` can give. */
  readonly owners: readonly Labels[];
  readonly clusterLabel: string;
  readonly externalLabels: Labels;
}

/** The alerts of the rules, with each set of labels that they can have. */
export function sentAlerts(rules: readonly PrometheusRule[], subjects: Subjects): readonly SentAlert[] {
  const alerts = rules.flatMap((rule) =>
    labelSets(rule.name.replace(/^TelemetryStation/, ''), subjects).map((own) => ({
      rule,
      labels: { ...subjects.externalLabels, ...own, ...rule.labels, alertname: rule.name },
    })),
  );
  return [...new Map(alerts.map((alert) => [JSON.stringify(Object.entries(alert.labels)), alert])).values()];
}

function labelSets(name: string, { stations, owners, clusterLabel }: Subjects): readonly Labels[] {
  const kept = KEPT[name];
  const isKept = (label: string) =>
    kept === undefined
      ? !['__name__', 'instance', 'pod'].includes(label)
      : ['job', clusterLabel, ...kept].includes(label);
  const owned = OF_RESOURCES.includes(name) ? [{}, ...owners] : [{}];
  return stations.flatMap((station) => owned.map((owner) => ({ ...where(station, isKept), ...owner, ...ADDED[name] })));
}
