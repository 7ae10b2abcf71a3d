import { keptLabels, type Labels, where } from './labels.ts';
import type { PrometheusReplies } from './prometheus.ts';
import type { PrometheusRule } from './rules.ts';

/** An alert as Alertmanager gets it. */
export interface SentAlert {
  readonly rule: PrometheusRule;
  readonly labels: Labels;
}

interface LabelsOfAlert {
  /** Its expression aggregates by these labels, and by cluster and job. */
  readonly by?: readonly string[];
  /** Labels of a station that it has; otherwise all. */
  readonly ofStation?: readonly string[];
  /** It is about a single exporter, and has the labels of a replica. */
  readonly isOfReplica?: true;
  /** It can have the labels of an owner. */
  readonly isOfResources?: true;
  /** Labels that its series have beside those of station and target, with an example. */
  readonly examples?: Labels;
}

/** The alerts that do not have exactly the labels of station and target, by their names without the prefix. */
const ALERTS: Readonly<Record<string, LabelsOfAlert>> = {
  UpstreamDown: { by: ['upstream'] },
  ReplicaFailing: { by: ['instance'] },
  ExporterAbsent: { by: [] },
  ShardsIncomplete: { by: [] },
  ExporterDown: { ofStation: [], isOfReplica: true },
  ExporterReloadFailed: { ofStation: [], isOfReplica: true, examples: { config: 'main' } },
  Overloaded: { ofStation: ['upstream'] },
  AlertableWithoutRules: { ofStation: ['station'], isOfResources: true },
  CapacityDropped: { examples: { unit: 'GPU' } },
  ResourceFiring: {
    isOfResources: true,
    examples: { resource_id: 'id', name: 'name', display_name: 'name', resource_type: 'type', product: 'product' },
  },
};

interface Subjects {
  /** Series of `telemetry_station_up`. */
  readonly stations: readonly Labels[];
  /** Names of labels that the configuration gives to stations. */
  readonly stationLabels: readonly string[];
  /** Labels that `resource_labels` can give. */
  readonly owners: readonly Labels[];
  readonly clusterLabel: string;
  /** Of Prometheus, which adds external labels and drops others. What else it does with labels is not computed. */
  readonly config: PrometheusReplies['config'];
}

/** The alerts of the rules, with each set of labels that they can have. */
export function sentAlerts(rules: readonly PrometheusRule[], subjects: Subjects): readonly SentAlert[] {
  const { global, alerting } = subjects.config ?? {};
  const alerts = rules.flatMap((rule) =>
    labelSets(rule, subjects).map((own) => {
      const labels = { ...global?.external_labels, ...own, ...rule.labels, alertname: rule.name };
      return { rule, labels: keptLabels(alerting?.alert_relabel_configs ?? [], labels) };
    }),
  );
  return [...new Map(alerts.map((alert) => [JSON.stringify(Object.entries(alert.labels)), alert])).values()];
}

function labelSets(
  { name, query }: PrometheusRule,
  { stations, stationLabels, owners, clusterLabel }: Subjects,
): readonly Labels[] {
  const { by, ofStation, isOfReplica, isOfResources, examples } = ALERTS[name.replace('TelemetryStation', '')] ?? {};
  const omitted = [
    '__name__',
    ...(isOfReplica ? [] : ['instance', 'pod']),
    ...(ofStation ? ['station', 'upstream', ...stationLabels].filter((label) => !ofStation.includes(label)) : []),
  ];
  const isKept = (label: string) => (by ? ['job', clusterLabel, ...by].includes(label) : !omitted.includes(label));
  // What is recorded of a set of resources has it as a label.
  const [, set] = /\bset="(\w+)"/.exec(query) ?? [];
  const added = { ...examples, ...(set !== undefined && { set }) };
  return stations.flatMap((station) =>
    [{}, ...(isOfResources ? owners : [])].map((owner) => ({ ...where(station, isKept), ...owner, ...added })),
  );
}
