import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from '@grafana/grafana-foundation-sdk/prometheus';

export const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

/** A query over the dashboard's time range. */
export function over(expression: string, legend: string): DataqueryBuilder {
  return query(expression).range().legendFormat(legend);
}

/** A query at the end of the time range. */
export function now(expression: string, legend = ''): DataqueryBuilder {
  return query(expression).instant().legendFormat(legend);
}

/** A query whose series become the rows of a table. */
export function rows(expression: string): DataqueryBuilder {
  return query(expression).instant().format(PromQueryFormat.Table);
}

function query(expression: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).editorMode(QueryEditorMode.Code).expr(expression);
}
