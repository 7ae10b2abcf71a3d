import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { CLUSTER } from '../../prometheus/source/parameters.ts';
import type { FamilyName } from '../../src/resources/families.ts';
import { DATASOURCE, Scope } from './query.ts';

/** The data source, and the cluster and the job, of each one: names of stations are unique in a job of a cluster only. */
export function jobVariables(family: FamilyName) {
  return [
    new DatasourceVariableBuilder('datasource').label('Data source').hide(VariableHide.HideLabel).type('prometheus'),
    labelVariable('cluster', 'Cluster', `label_values(${family}, ${CLUSTER})`),
    labelVariable('job', 'Job', `label_values(${family}{${CLUSTER}="$cluster"}, job)`),
  ];
}

export function stationVariable(): QueryVariableBuilder {
  return labelVariable('station', 'Station', `label_values(${new Scope().series('telemetry_station_up')}, station)`);
}

/** That of the selected station: its alerts have no label of a station. */
export function upstreamVariable(): QueryVariableBuilder {
  const query = `label_values(${new Scope('station="$station"').series('telemetry_station_up')}, upstream)`;
  return hidden(labelVariable('upstream', 'Upstream', query));
}

/** One value of a label. */
export function labelVariable(name: string, title: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(title)
    .datasource(DATASOURCE)
    .query({ query, qryType: LABEL_VALUES, refId: 'Variable' })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc);
}

/** The query type "label values" of Grafana's Prometheus data source. */
const LABEL_VALUES = 1;

/** Several values, or all. */
export function multiple(variable: QueryVariableBuilder, allValue: '.+' | '.*' = '.+'): QueryVariableBuilder {
  return variable
    .multi(true)
    .includeAll(true)
    .allValue(allValue)
    .current({ text: ['All'], value: ['$__all'] });
}

/** Leaves the control out, because links set the variable, or few people change it. */
export function hidden<Variable extends { hide(hide: VariableHide): Variable }>(variable: Variable): Variable {
  return variable.hide(VariableHide.HideVariable);
}

export function textVariable(name: string, title: string, description: string, text = ''): TextBoxVariableBuilder {
  return new TextBoxVariableBuilder(name)
    .label(title)
    .description(description)
    .defaultValue(text)
    .current({ text, value: text });
}
