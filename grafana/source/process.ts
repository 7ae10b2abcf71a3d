import { thresholds } from './appearance.ts';
import { timeseries } from './panel.ts';
import type { Scope } from './query.ts';
import { over } from './target.ts';
import { UNIT } from './units.ts';

const nothing = 'No exporter';

export const memory = (scope: Scope) =>
  timeseries(
    {
      title: 'Memory',
      description: 'Resident memory, and what of it is the heap and what lies outside it: the kept bytes of the stations.',
      unit: UNIT.bytes,
      nothing,
    },
    over(scope.ofExporters(scope.series('process_resident_memory_bytes')), '{{instance}}: resident'),
    over(scope.ofExporters(scope.series('nodejs_heap_size_used_bytes')), '{{instance}}: heap'),
    over(scope.ofExporters(scope.series('nodejs_external_memory_bytes')), '{{instance}}: outside the heap'),
  );

export const eventLoop = (scope: Scope) =>
  timeseries(
    {
      title: 'Event loop lag',
      description:
        'How much later than due the process gets to its work: half, all but one in a hundred, and the worst since the last scrape.',
      unit: UNIT.seconds,
      nothing,
    },
    over(scope.ofExporters(scope.series('nodejs_eventloop_lag_p50_seconds')), '{{instance}}: p50'),
    over(scope.ofExporters(scope.series('nodejs_eventloop_lag_p99_seconds')), '{{instance}}: p99'),
    over(scope.ofExporters(scope.series('nodejs_eventloop_lag_max_seconds')), '{{instance}}: worst'),
  ).thresholds(thresholds([null, 'green'], [0.1, 'orange'], [0.5, 'red']));

export const cpu = (scope: Scope) =>
  timeseries(
    { title: 'CPU', description: 'The share of one core that the process takes.', unit: UNIT.ratio, nothing },
    over(scope.ofExporters(`rate(${scope.series('process_cpu_seconds_total')}[$__rate_interval])`), '{{instance}}'),
  );

export const garbage = (scope: Scope) =>
  timeseries(
    {
      title: 'Garbage collection',
      description: 'The share of time spent collecting garbage, by kind of collection.',
      unit: UNIT.ratio,
      nothing,
    },
    over(
      scope.ofExporters(`sum by (job, instance, kind) (rate(${scope.series('nodejs_gc_duration_seconds_sum')}[$__rate_interval]))`),
      '{{instance}}: {{kind}}',
    ),
  );

export const files = (scope: Scope) =>
  timeseries(
    {
      title: 'Open files',
      description: 'The share of the allowed file descriptors that are open, connections included.',
      unit: UNIT.ratio,
      nothing,
    },
    over(scope.ofExporters(`${scope.series('process_open_fds')} / ${scope.series('process_max_fds')}`), '{{instance}}'),
  ).thresholds(thresholds([null, 'green'], [0.8, 'red']));
