import { describe, expect, it } from 'vitest';
import { scrapedSamples } from './samples.ts';

describe('scrapedSamples', () => {
  it('have the labels of the target, the time, and the metrics of the scrape', () => {
    const exposition = '# HELP a Text.\n# TYPE a gauge\na 1\n# TYPE b counter\nb{name="x {y}"} 2.5\n';
    expect(scrapedSamples(exposition, 0.25, 60)).toBe(
      'a{instance="localhost:9842",job="telemetry-station-exporter"} 1 60\n' +
        'b{instance="localhost:9842",job="telemetry-station-exporter",name="x {y}"} 2.5 60\n' +
        'up{instance="localhost:9842",job="telemetry-station-exporter"} 1 60\n' +
        'scrape_duration_seconds{instance="localhost:9842",job="telemetry-station-exporter"} 0.25 60\n' +
        'scrape_samples_scraped{instance="localhost:9842",job="telemetry-station-exporter"} 2 60\n',
    );
  });
});
