import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import parameters from '../../prometheus/source/parameters.json' with { type: 'json' };
import { RULES_TEMPLATE, rulesFile, withThresholds } from '../../prometheus/source/rules-file.ts';
import { FAMILY_DESCRIPTIONS } from '../../src/collectors/collectors.ts';
import { THRESHOLDS } from '../../src/status/thresholds.ts';
import { type Alert, knownMetrics, shippedGroups, unknownIn } from './promql/known-metrics.ts';
import { parsePromql } from './promql/parse.ts';

const CHART = '../../deploy/helm/telemetry-station-exporter';
const alerts = shippedGroups().flatMap(({ rules }) => rules.map((rule): [string, Alert] => [rule.alert, rule]));
const records = shippedGroups().flatMap((group) =>
  group.records.map(({ record, expr }): [string, string] => [record, expr]),
);
const expressions = [...alerts.map(([name, { expr }]): [string, string] => [name, expr]), ...records];
/** The severities of an alert have its name. */
const alertNames = [...new Set(alerts.map(([name]) => name))];
const metrics = knownMetrics();

describe('rulesFile', () => {
  it('matches prometheus/rules.yml', async () => {
    await expect(rulesFile()).toMatchFileSnapshot('../../prometheus/rules.yml');
  });
});

describe('withThresholds', () => {
  it.each(['../../prometheus/source/parameters.json', `${CHART}/values.yaml`])(
    'has nothing to change in %s',
    async (file) => {
      const text = readFileSync(new URL(file, import.meta.url), 'utf8');
      await expect(withThresholds(text)).toMatchFileSnapshot(file);
    },
  );

  it('has a line for every threshold', () => {
    expect(parameters.alerts).toEqual(THRESHOLDS);
  });
});

describe('the rules of the Helm chart', () => {
  it('have the same template', async () => {
    await expect(RULES_TEMPLATE).toMatchFileSnapshot(`${CHART}/files/rules.tpl.yml`);
  });

  it('have the same default parameters', () => {
    const { prometheusRule: values, clusterLabel } = parse(
      readFileSync(new URL(`${CHART}/values.yaml`, import.meta.url), 'utf8'),
    );
    // By default the job is the name of the Service.
    expect(values).toMatchObject({
      job: '',
      selector: parameters.selector,
      runbookUrl: parameters.runbookUrl,
      alerts: parameters.alerts,
    });
    expect(clusterLabel).toBe(parameters.clusterLabel);
  });

  it('accept settings of every alert, and of no other', () => {
    const schema = JSON.parse(readFileSync(new URL(`${CHART}/values.schema.json`, import.meta.url), 'utf8'));
    expect(schema.definitions.alerts.propertyNames.enum).toEqual(alertNames);
  });
});

describe('prometheus/rules.yml', () => {
  it('has a size that its owner reads in one sitting', () => {
    const lengths = alerts.map(([, { expr }]) => expr.length);
    const descriptions = alerts.map(([, { annotations }]) => annotations.description.length);
    expect(alerts.length).toBeLessThanOrEqual(18);
    expect(Buffer.byteLength(rulesFile())).toBeLessThanOrEqual(24 * 1024);
    expect(Math.max(...expressions.map(([, expr]) => expr.length))).toBeLessThanOrEqual(350);
    expect(median(lengths)).toBeLessThanOrEqual(145);
    expect(Math.max(...descriptions)).toBeLessThanOrEqual(300);
  });

  it.each(expressions)('queries only known metrics and labels, of the job: %s', (_, expr) => {
    expect(unknownIn(expr, metrics)).toEqual([]);
    const { selectors } = parsePromql(expr);
    // What excludes stations by their labels must not exclude what the stations of a job are joined with.
    const isJoined = ({ metric, matchers }: (typeof selectors)[number]) =>
      matchers.length === 0 && JOINED.includes(`${metric}`);
    const ofStations = selectors.filter((selector) => !isJoined(selector));
    const jobs = ofStations.map(({ matchers }) => matchers.find(({ label }) => label === 'job')?.value);
    expect(new Set(jobs)).toEqual(new Set([parameters.job]));
  });

  it('queries no family that may change in any release', () => {
    const experimental = FAMILY_DESCRIPTIONS.filter(({ isExperimental }) => isExperimental).map(({ name }) => name);
    const queried = expressions.flatMap(([, expr]) => parsePromql(expr).selectors.map(({ metric }) => metric));
    expect(experimental).not.toEqual([]);
    expect(queried.filter((metric) => experimental.includes(`${metric}`))).toEqual([]);
  });

  it.each(expressions)('joins replicas, but never two clusters or jobs: %s', (_, expr) => {
    const { groupings } = parsePromql(expr);
    const mixing = groupings.filter(({ clause, labels }) => {
      if (clause === 'by' || clause === 'on') return !labels.includes('cluster') || !labels.includes('job');
      const isKnown = clause === 'without' || clause === 'ignoring';
      return !isKnown || labels.includes('cluster') || labels.includes('job');
    });
    expect(mixing).toEqual([]);
  });

  it('goes by what states mean: no rule has the name or a pattern of a state', () => {
    const matchers = expressions.flatMap(([, expr]) =>
      parsePromql(expr).selectors.flatMap((selector) => selector.matchers),
    );
    expect(matchers.map(({ label }) => label)).toContain('set');
    expect(matchers.filter(({ label }) => label === 'state')).toEqual([]);
  });

  it.each(records)('records %s without reading it', (record, expr) => {
    expect(parsePromql(expr).selectors.map(({ metric }) => metric)).not.toContain(record);
  });

  it('links each alert to its runbook, and has an alert for every runbook', () => {
    const runbooks = readdirSync(new URL('../../docs/runbooks/', import.meta.url)).filter(
      (file) => file !== 'README.md',
    );
    expect(runbooks.toSorted()).toEqual(alertNames.map((name) => `${name}.md`).toSorted());
    const linked = alerts.map(([, { annotations }]) => annotations.runbook_url);
    expect(linked).toEqual(alerts.map(([name]) => `${parameters.runbookUrl}/${name}.md`));
  });

  it('keeps alerts of stations firing until the exporter counts as down, and that of a renamed resource until its new one fires', () => {
    const byName = new Map(alerts);
    const kept = alerts.filter(([, rule]) => rule.keep_firing_for !== undefined);
    const exporterDown = EXPORTER_DOWN_MINUTES;
    expect(kept.filter(([, rule]) => minutes(`${rule.keep_firing_for}`) + 5 <= exporterDown)).toEqual([]);
    const ofStations = shippedGroups().filter(({ name }) => name !== 'telemetry-station-exporter');
    const notKept = ofStations.flatMap(({ rules }) => rules.filter((rule) => rule.keep_firing_for === undefined));
    // Its expression has a range, so that a restart does not end it.
    expect(notKept.map(({ alert }) => alert)).toEqual(['TelemetryStationAlertableWithoutRules']);
    const resource = byName.get('TelemetryStationResourceFiring');
    expect(minutes(`${resource?.keep_firing_for}`)).toBeGreaterThan(minutes(`${resource?.for}`));
  });

  it('pages for no station that recovers some scrapes after the first one of its upstream', () => {
    const keptMinutes = (name: string) => minutes(`${new Map(alerts).get(`TelemetryStation${name}`)?.keep_firing_for}`);
    const longest = Math.max(...['Down', 'DataStale', 'ListingIncomplete', 'UnknownState'].map(keptMinutes));
    expect(keptMinutes('UpstreamDown')).toBeGreaterThanOrEqual(longest + 5);
  });

  it('is restored by Prometheus after a restart, which takes ten minutes of `for` or a range', () => {
    const short = alerts.filter(([, rule]) => minutes(rule.for ?? '10m') < 10);
    expect(short).toEqual([]);
    // It restores them at the third evaluation, which comes before Alertmanager considers them resolved.
    const ofAlerts = shippedGroups().filter(({ rules }) => rules.length > 0);
    expect(ofAlerts.filter(({ interval }) => interval !== '30s')).toEqual([]);
    const ranges = alerts.filter(([, rule]) => rule.for === undefined);
    const withRange = ['CapacityDropped', 'ManyResourcesFiring', 'ExporterDown'];
    expect(ranges.map(([name]) => name)).toEqual(withRange.map((name) => `TelemetryStation${name}`));
  });

  it('pages for the exporter before it does for what is missing then, and for an upstream before its stations', () => {
    const pending = (name: string) => minutes(`${new Map(alerts).get(`TelemetryStation${name}`)?.for}`);
    expect(['ExporterAbsent', 'ShardsIncomplete'].filter((name) => pending(name) <= EXPORTER_DOWN_MINUTES)).toEqual([]);
    const ofStations = ['Down', 'DataStale', 'ListingIncomplete', 'UnknownState', 'Overloaded'];
    expect(ofStations.filter((name) => pending(name) <= pending('UpstreamDown'))).toEqual([]);
  });
});

const JOINED = [
  'telemetry_station_exporter_time_seconds',
  'up',
  'replica:station:seen',
  'station:telemetry_station_up:exists',
  'station:telemetry_station_up:timestamp',
];

/** More than 30 % of its range, and its offset. */
const EXPORTER_DOWN_MINUTES = 10;

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

function minutes(duration: string): number {
  const units: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 };
  return [...duration.matchAll(/(\d+)([mhd])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[`${unit}`] ?? 0),
    0,
  );
}
