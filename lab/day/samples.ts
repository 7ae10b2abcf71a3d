/** A sample as OpenMetrics. */
export function sampleLine(
  name: string,
  labels: Readonly<Record<string, string>>,
  value: number,
  seconds: number,
): string {
  const list = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
  return `${name}{${list.join(',')}} ${value} ${seconds}\n`;
}

const TARGET = { instance: 'localhost:9842', job: 'telemetry-station-exporter' };

/** What Prometheus stores of a scrape, as OpenMetrics without metadata. */
export function scrapedSamples(exposition: string, durationSeconds: number, seconds: number): string {
  const lines = exposition.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const target = `instance="${TARGET.instance}",job="${TARGET.job}"`;
  const samples = lines.map((line) => {
    const [name = ''] = /^\w+/.exec(line) ?? [];
    const rest = line.slice(name.length);
    return rest.startsWith('{')
      ? `${name}{${target},${rest.slice(1)} ${seconds}\n`
      : `${name}{${target}}${rest} ${seconds}\n`;
  });
  const own = { up: 1, scrape_duration_seconds: durationSeconds, scrape_samples_scraped: lines.length };
  return [...samples, ...Object.entries(own).map(([name, value]) => sampleLine(name, TARGET, value, seconds))].join('');
}
