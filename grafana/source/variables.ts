import {
  CustomVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { LabelOf, MetricName } from '../../promql/metric.ts';
import { DATASOURCE, Scope } from './query.ts';

export const datasourceVariable = () => new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus');

/** Multi-value variable over the values of a label, filtered by the variables of `scope`. */
export function labelVariable<Name extends MetricName>(
  label: LabelOf<Name> & string,
  title: string,
  metric: Name,
  scope: Scope | undefined,
  allValue: '.+' | '.*' = '.+',
): QueryVariableBuilder {
  const query = `label_values(${scope === undefined ? metric : scope.series(metric)}, ${label})`;
  return new QueryVariableBuilder(label)
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

/** Query type "label values" of Grafana's Prometheus data source. */
const LABEL_VALUES = 1;

/** "All" types and products must include the empty label value. */
export function stationVariables() {
  return [
    datasourceVariable(),
    labelVariable('job', 'Job', 'telemetry_station_up', undefined),
    labelVariable('station', 'Station', 'telemetry_station_up', new Scope()),
    labelVariable('resource_type', 'Type', 'telemetry_station_resources', new Scope('station'), '.*'),
    labelVariable('product', 'Product', 'telemetry_station_resources', new Scope('station', 'resource_type'), '.*'),
  ];
}

export function textVariable(name: string, title: string, description: string): TextBoxVariableBuilder {
  return new TextBoxVariableBuilder(name).label(title).description(description).defaultValue('').current({ text: '', value: '' });
}

export function choiceVariable(name: string, title: string, choices: readonly [first: string, ...others: string[]]): CustomVariableBuilder {
  const [first] = choices;
  return new CustomVariableBuilder(name)
    .label(title)
    .values(choices.join(','))
    .options(choices.map((choice) => ({ text: choice, value: choice, selected: choice === first })))
    .current({ text: first, value: first });
}
