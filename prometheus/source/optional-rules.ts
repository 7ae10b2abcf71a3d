import { stringify } from 'yaml';
import { CLUSTER, CLUSTER_LABEL, labelList, withClusterLabel } from '../promql/cluster.ts';
import { OWNER_LABEL, OWNER_PLACEHOLDER } from './parameters.ts';
import { lastValue, RECORDED } from './recording.ts';
import { BY_STATION, LISTING_COMPLETE, metric } from './rule.ts';

/** How Prometheus knows the resources of a type: by a label of its targets. */
interface MonitoredBy {
  /** Regular expression of resource types. */
  readonly type: string;
  /** Selector of the series of the targets. */
  readonly series: string;
  /** Label of the targets, and the regular expression whose first group is the value to look for. */
  readonly label: string;
  readonly expression?: string;
  /** Label of the resource that has this value. */
  readonly matches?: 'name' | 'display_name' | 'resource_id';
  /** Targets of other clusters count as well: the exporter may run in another cluster than the resources. */
  readonly anyCluster?: boolean;
}

interface Sku {
  readonly gpu_model?: string;
  readonly unit: string;
}

interface ExpectedQuantity extends Sku {
  readonly cluster?: string;
  readonly station: string;
  readonly quantity: number;
}

interface Price extends Sku {
  readonly price_per_hour: number;
}

/** What an operator knows and the service does not: values of the Helm chart and parameters of the mixin. Without them there is no rule. */
export interface OptionalRuleValues {
  readonly monitoredBy: readonly MonitoredBy[];
  readonly expectedQuantities: readonly ExpectedQuantity[];
  readonly prices: readonly Price[];
}

/**
 * The templates of the rules. Chart and mixin write an expression for each entry of `monitoredBy`, a constant for each quantity and price. The
 * label `monitored` begins with an equal sign, so that a resource without a name matches no target.
 */
const OPTIONAL_RULES = {
  group: 'telemetry-station-optional',
  interval: '2m',
  notMonitored: RECORDED.notMonitored,
  monitoredBy: `(
  count by ${labelList('job', 'station', 'resource_type', OWNER_PLACEHOLDER)} (
    max by ${labelList('job', 'station', 'resource_type', 'resource_id', 'monitored', OWNER_PLACEHOLDER)} (
      label_replace(${metric('telemetry_station_resource_info')}{resource_type=~<<type>>}, "monitored", "=$1", "<<matches>>", "(.*)")
    )
    unless on <<targets>>
    label_replace(<<series>>, "monitored", "=$1", <<label>>, <<expression>>)
  )
  and on ${BY_STATION}
  ${LISTING_COMPLETE}
)`,
  targetsOfCluster: labelList('monitored'),
  targetsOfAnyCluster: '(monitored)',
  lastNotMonitored: lastValue(RECORDED.notMonitored, LISTING_COMPLETE),
  expected: RECORDED.expected,
  price: RECORDED.price,
  cost: RECORDED.cost,
  costExpression: `sum by ${labelList('job', 'station', OWNER_PLACEHOLDER)} (
  ${RECORDED.comparableCapacityByOwner}
  * on (gpu_model, unit) group_left ()
  ${RECORDED.price}
)`,
} as const;

/** The templates for chart and mixin. */
export function optionalRulesTemplate(): string {
  return stringify(OPTIONAL_RULES, { lineWidth: 0 });
}

/** The rules as a file, as chart and mixin render them. */
export function optionalRules({ monitoredBy, expectedQuantities, prices }: OptionalRuleValues): string {
  const rules = [
    ...(monitoredBy.length === 0
      ? []
      : [
          {
            record: OPTIONAL_RULES.notMonitored,
            expr: [...monitoredBy.map(monitoredExpression), OPTIONAL_RULES.lastNotMonitored].join('\nor\n'),
          },
        ]),
    ...expectedQuantities.map(({ quantity, cluster, station, ...sku }) => ({
      record: OPTIONAL_RULES.expected,
      expr: `vector(${quantity})`,
      labels: { ...(cluster !== undefined && { [CLUSTER]: cluster }), station, ...skuLabels(sku) },
    })),
    ...prices.map(({ price_per_hour, ...sku }) => ({
      record: OPTIONAL_RULES.price,
      expr: `vector(${price_per_hour})`,
      labels: skuLabels(sku),
    })),
    ...(prices.length === 0 ? [] : [{ record: OPTIONAL_RULES.cost, expr: OPTIONAL_RULES.costExpression }]),
  ];
  const { group: name, interval } = OPTIONAL_RULES;
  const text = stringify({ groups: [{ name, interval, rules }] }, { lineWidth: 0 });
  return `${HEADER}${withClusterLabel(text, CLUSTER_LABEL).replaceAll(OWNER_PLACEHOLDER, OWNER_LABEL)}`;
}

const HEADER = `# Examples of rules for resources that are not monitored, expected quantities and prices; the Helm chart and the mixin write them from values.
# Generated from prometheus/source and the values of ci/optional-rules-values.yaml by \`npm run generate\`.
`;

function monitoredExpression({
  type,
  series,
  label,
  expression = '(.+)',
  matches = 'name',
  anyCluster = false,
}: MonitoredBy): string {
  const { targetsOfCluster, targetsOfAnyCluster } = OPTIONAL_RULES;
  return OPTIONAL_RULES.monitoredBy
    .replaceAll('<<type>>', JSON.stringify(type))
    .replaceAll('<<matches>>', matches)
    .replaceAll('<<targets>>', anyCluster ? targetsOfAnyCluster : targetsOfCluster)
    .replaceAll('<<series>>', series)
    .replaceAll('<<label>>', JSON.stringify(label))
    .replaceAll('<<expression>>', JSON.stringify(expression));
}

function skuLabels({ gpu_model, unit }: Sku): object {
  return { ...(gpu_model !== undefined && { gpu_model }), unit };
}
