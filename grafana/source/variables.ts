import {
  CustomVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { CLUSTER } from '../../prometheus/promql/cluster.ts';
import { type LabelOf, type MetricName, selector } from '../../prometheus/promql/metric.ts';
import { CLUSTER_MATCHER, DATASOURCE, Scope } from './query.ts';

export const datasourceVariable = () =>
  new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus');

/** Multi-value variable over the values of a label, of series that match the variables of `scope`, or of a selector. */
export function labelVariable<Name extends MetricName>(
  label: LabelOf<Name> & string,
  title: string,
  metric: Name,
  scope: Scope | string,
  allValue: '.+' | '.*' = '.+',
): QueryVariableBuilder {
  const query = `label_values(${typeof scope === 'string' ? scope : scope.series(metric)}, ${label})`;
  return new QueryVariableBuilder(label === CLUSTER ? CLUSTER_VARIABLE : label)
    .label(title)
    .datasource(DATASOURCE)
    .query({ query, qryType: LABEL_VALUES, refId: 'Variable' })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc)
    .multi(true)
    .includeAll(true)
    .allValue(allValue)
    .current({ text: ['All'], value: ['$__all'] });
}

/** Query types "label values" and "query result" of Grafana's Prometheus data source. */
const LABEL_VALUES = 1;
const QUERY_RESULT = 3;

/** The name of the variable does not depend on that of the label, so that links to dashboards stay valid. */
const CLUSTER_VARIABLE = 'cluster';

/** "All" clusters must include the empty label value: there may be no cluster. */
export function jobVariables(metric: 'telemetry_station_up' | 'telemetry_station_exporter_build_info') {
  return [
    labelVariable(CLUSTER, 'Cluster', metric, metric, '.*'),
    labelVariable('job', 'Job', metric, selector(metric, CLUSTER_MATCHER)),
  ];
}

/** "All" types and products must include the empty label value. */
export function stationVariables() {
  return [
    datasourceVariable(),
    ...jobVariables('telemetry_station_up'),
    labelVariable('station', 'Station', 'telemetry_station_up', new Scope()),
    typeVariable(),
    labelVariable(
      'product',
      'Product',
      'telemetry_station_resources',
      new Scope('station', 'resource_type'),
      '.*',
    ).regex(namedWithout('product.')),
  ];
}

/** Opens on the first station instead of all. */
export function oneStationVariables() {
  return stationVariables().map((variable) =>
    variable instanceof QueryVariableBuilder && variable.build().name === 'station'
      ? variable.includeAll(false).allValue('').current({ text: '', value: '' })
      : variable,
  );
}

/** Shows values without a prefix. */
function namedWithout(prefix: string): string {
  return `/^(?<value>(?:${prefix.replaceAll('.', '[.]')})?(?<text>.*))$/`;
}

/** Types by their names; the value is the key. */
function typeVariable(): QueryVariableBuilder {
  const query = `query_result(${new Scope('station').typeNames()})`;
  return labelVariable('resource_type', 'Type', 'telemetry_station_resources', new Scope('station'), '.*')
    .query({ query, qryType: QUERY_RESULT, refId: 'Variable' })
    .definition(query)
    .regex('/resource_type="(?<value>[^"]*)",resource_type_label="(?<text>[^"]*)"/');
}

/** The label that `resource_labels` adds; the panels that read it show nothing while no series has it. */
export const ownerVariable = () =>
  textVariable('owner', 'Owner label', 'Label of `resource_labels` that names the owner of a resource.', 'team');

export function textVariable(name: string, title: string, description: string, text = ''): TextBoxVariableBuilder {
  return new TextBoxVariableBuilder(name)
    .label(title)
    .description(description)
    .defaultValue(text)
    .current({ text, value: text });
}

export function choiceVariable(
  name: string,
  title: string,
  choices: readonly [first: string, ...others: string[]],
): CustomVariableBuilder {
  const [first] = choices;
  return new CustomVariableBuilder(name)
    .label(title)
    .values(choices.join(','))
    .options(choices.map((choice) => ({ text: choice, value: choice, selected: choice === first })))
    .current({ text: first, value: first });
}
