import {
  CustomVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { LabelOf, MetricName } from './metric.ts';
import { Scope } from './query.ts';
import { DATASOURCE } from './target.ts';

export const datasource = () => new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus');

/** The values of a label, several or all at once, under the variables that come before it. */
export function labelVariable<Name extends MetricName>(
  label: LabelOf<Name> & string,
  title: string,
  metric: Name,
  before: Scope | undefined,
  all: '.+' | '.*' = '.+',
): QueryVariableBuilder {
  const query = `label_values(${before === undefined ? metric : before.series(metric)}, ${label})`;
  return new QueryVariableBuilder(label)
    .label(title)
    .datasource(DATASOURCE)
    .query({ query, qryType: LABEL_VALUES, refId: 'Variable' })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc)
    .multi(true)
    .includeAll(true)
    .allValue(all)
    .current({ text: ['All'], value: ['$__all'] });
}

/** Which stations, and what of them; "All" takes in resources whose type or product is not known. */
export function stationVariables() {
  return [
    datasource(),
    labelVariable('job', 'Job', 'telemetry_station_up', undefined),
    labelVariable('station', 'Station', 'telemetry_station_up', new Scope()),
    labelVariable('resource_type', 'Type', 'telemetry_station_resources', new Scope('station'), '.*'),
    labelVariable('product', 'Product', 'telemetry_station_resources', new Scope('station', 'resource_type'), '.*'),
  ];
}

/** The number by which Grafana's Prometheus data source knows a query for the values of a label. */
const LABEL_VALUES = 1;

/** A text that narrows what is found. */
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
