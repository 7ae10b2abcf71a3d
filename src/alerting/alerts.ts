import { type Labels, where } from './labels.ts';
import type { PrometheusRule } from './rules.ts';

/** An alert as Alertmanager gets it. */
export interface SentAlert {
  readonly rule: PrometheusRule;
  readonly labels: Labels;
}

/** Of the alerts whose expression aggregates: the labels that it keeps beside cluster and job. The keys are names without their prefix. */
const AGGREGATED_BY: Readonly<Record<string, readonly string[]>> = {
  UpstreamDown: ['upstream'],
  ReplicaFailing: ['instance'],
  ExporterAbsent: [],
  ShardsIncomplete: [],
};

/** Of the alerts that do not have all labels of a station: those that they have, beside the labels of the target. */
const OF_STATION: Readonly<Record<string, readonly string[]>> = {
  Overloaded: ['upstream'],
  AlertableWithoutRules: ['station'],
  ExporterDown: [],
  ExporterReloadFailed: [],
};

/** Only alerts about single exporters have the labels of a replica. */
const REPLICA = ['instance', 'pod'];
const OF_REPLICAS = ['ExporterDown', 'ExporterReloadFailed'];

/** Labels that the expression of an alert adds. */
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
  /** Names of labels that the configuration gives to stations. */
  readonly stationLabels: readonly string[];
  /** Labels that `resource_labels` can give. */
  readonly owners: readonly Labels[];
  readonly clusterLabel: string;
  readonly externalLabels: Labels;
  /** `alert_relabel_configs` */
  readonly relabel: (labels: Labels) => Labels;
}

/** The alerts of the rules, with each set of labels that they can have. */
export function sentAlerts(rules: readonly PrometheusRule[], subjects: Subjects): readonly SentAlert[] {
  const alerts = rules.flatMap((rule) =>
    labelSets(rule, subjects).map((own) => ({
      rule,
      labels: subjects.relabel({ ...subjects.externalLabels, ...own, ...rule.labels, alertname: rule.name }),
    })),
  );
  return [...new Map(alerts.map((alert) => [JSON.stringify(Object.entries(alert.labels)), alert])).values()];
}

function labelSets(
  rule: PrometheusRule,
  { stations, stationLabels, owners, clusterLabel }: Subjects,
): readonly Labels[] {
  const name = rule.name.replace(/^TelemetryStation/, '');
  const ofStations = ['station', 'upstream', ...stationLabels];
  const isKept = (label: string) => {
    const aggregated = AGGREGATED_BY[name];
    if (aggregated !== undefined) return ['job', clusterLabel, ...aggregated].includes(label);
    if (REPLICA.includes(label)) return OF_REPLICAS.includes(name);
    return label !== '__name__' && (!ofStations.includes(label) || (OF_STATION[name]?.includes(label) ?? true));
  };
  const owned = OF_RESOURCES.includes(name) ? [{}, ...owners] : [{}];
  // What is recorded of a set of resources has it as a label.
  const [, set] = /\bset="(\w+)"/.exec(rule.expr) ?? [];
  const added = { ...ADDED[name], ...(set !== undefined && { set }) };
  return stations.flatMap((station) => owned.map((owner) => ({ ...where(station, isKept), ...owner, ...added })));
}
