import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { Scope } from './query.ts';
import { DATASOURCE, over } from './target.ts';

/** What explains a jump: the configuration was loaded anew, or the exporter started anew. Both tell the time as their value. */
export function annotations(): AnnotationQueryBuilder[] {
  const scope = new Scope();
  const reloads = scope.series('telemetry_station_exporter_config_last_reload_success_timestamp_seconds');
  const starts = scope.ofExporters(scope.series('process_start_time_seconds'));
  return [
    new AnnotationQueryBuilder()
      .name('Annotations & Alerts')
      .datasource({ type: 'grafana', uid: '-- Grafana --' })
      .type('dashboard')
      .builtIn(1)
      .enable(true)
      .hide(true)
      .iconColor('rgba(0, 211, 255, 1)'),
    told('Configuration loaded', `1000 * ${reloads}`, 'blue'),
    told('Exporter started', `1000 * (${starts})`, 'purple'),
  ];
}

function told(name: string, expression: string, color: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(true)
    .hide(false)
    .iconColor(color)
    .expr(expression)
    .target(over(expression, '').refId('Anno'))
    .titleFormat(name)
    .textFormat('{{instance}}')
    .tagKeys('job')
    .step('60s')
    .useValueForTime(true);
}
