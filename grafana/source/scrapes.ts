import { GraphThresholdsStyleConfigBuilder, GraphThresholdsStyleMode } from '@grafana/grafana-foundation-sdk/common';
import { noneIsGood, scrapeThresholds } from './appearance.ts';
import { ranking, stacked, timeseries } from './panel.ts';
import type { Scope } from './query.ts';
import { now, over } from './target.ts';
import { UNIT } from './units.ts';

const nothing = 'No scrapes';

export const scrapeDuration = (scope: Scope) =>
  timeseries(
    {
      title: 'Duration of scrapes',
      description: 'How long Prometheus waited for each exporter. The line at 8 seconds is four fifths of its default timeout.',
      unit: UNIT.seconds,
      nothing,
    },
    over(scope.ofTargets(scope.series('scrape_duration_seconds')), '{{instance}}'),
  )
    .thresholds(scrapeThresholds())
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));

export const scrapeSamples = (scope: Scope) =>
  timeseries(
    { title: 'Samples per scrape', description: 'Samples that each scrape brought.', unit: UNIT.short, nothing },
    over(scope.ofTargets(scope.series('scrape_samples_scraped')), '{{instance}}'),
  );

export const scrapeBytes = (scope: Scope) =>
  timeseries(
    {
      title: 'Bytes per scrape',
      description: 'The size of each scrape, uncompressed. Prometheus tells it with `--enable-feature=extra-scrape-metrics`.',
      unit: UNIT.bytes,
      nothing: 'Needs --enable-feature=extra-scrape-metrics',
    },
    over(scope.ofTargets(scope.series('scrape_body_size_bytes')), '{{instance}}'),
  );

export const cache = (scope: Scope) =>
  stacked(
    {
      title: 'Stations read by scrapes',
      description: 'How often a scrape found a station fresh enough (hit), and how often it had to wait for a refresh (miss).',
      unit: UNIT.requestsPerSecond,
      nothing,
    },
    over(scope.rate('telemetry_station_exporter_cache_hits_total', []), 'hit'),
    over(scope.rate('telemetry_station_exporter_cache_misses_total', []), 'miss'),
  );

export const seriesByStation = (scope: Scope) =>
  ranking(
    { title: 'Series by station', description: 'The 15 stations with the most published series.', unit: UNIT.count, nothing },
    now(`topk(15, ${scope.sum('telemetry_station_exporter_series', ['station'])})`, '{{station}}'),
  );

export const withheld = (scope: Scope) =>
  timeseries(
    {
      title: 'Series withheld',
      description:
        'Per-resource series that are not published because the station has more resources than `max_resources`; aggregates stay exact.',
      unit: UNIT.short,
      nothing: 'None',
    },
    over(`topk(20, ${scope.sum('telemetry_station_exporter_series_withheld', ['station'])})`, '{{station}}'),
  ).thresholds(noneIsGood());
