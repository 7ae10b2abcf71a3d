import type { SourceEntry } from '../../../lab/simulator/listing.ts';
import { DOWN_REASONS } from '../../../src/model/failure.ts';
import { dataOf, healthOf, type StationMetrics } from '../../e2e/station-metrics.ts';
import { wireRecord } from '../../e2e/test-bed.ts';
import type { ParsedFamily } from '../../exposition/parse-exposition.ts';
import type { SimulatedService } from '../../simulator/simulated-service.ts';

const RESOURCES = 250;
const STATES = ['INACTIVE', 'INACTIVE', 'INACTIVE', 'PENDING', 'FIRING'].map((state) => `ALERTSTATE_${state}`);

/** An `Age` has whole seconds. */
const AGE_RESOLUTION_MS = 1000;

/** The records of a service: with each version resources are added and removed, and others have another state and number of rules. */
export class Truth {
  readonly stations: readonly string[];
  readonly #service: Pick<SimulatedService, 'setRecords'>;
  /** When each version became true. */
  readonly #sinceMs: number[] = [];

  constructor(service: Pick<SimulatedService, 'setRecords'>, stations: readonly string[]) {
    this.#service = service;
    this.stations = stations;
    this.change();
  }

  change(): void {
    const version = this.#sinceMs.push(Date.now()) - 1;
    for (const station of this.stations) this.#service.setRecords(station, entriesOf(station, version));
  }

  /** Of one station in a scrape: `true`, or how what is published is marked, or what is wrong with it. */
  verdict(families: Map<string, ParsedFamily>, station: string): string {
    return marked(families, station) ?? this.#verdictOfData(families, station);
  }

  /** Whether the latest version of every station is published. */
  isCurrent(families: Map<string, ParsedFamily>): boolean {
    const latest = this.#sinceMs.length - 1;
    return this.stations.every(
      (station) =>
        marked(families, station) === undefined && publishedText(families, station) === trueText(station, latest),
    );
  }

  /** What is published must have been true at a time between the beginning of the refresh and its end, as published. */
  #verdictOfData(families: Map<string, ParsedFamily>, station: string): string {
    const { last_success_timestamp_seconds, refresh_duration_seconds } = healthOf(families, station);
    const toMs = 1000 * only(last_success_timestamp_seconds);
    const fromMs = toMs - 1000 * only(refresh_duration_seconds) - AGE_RESOLUTION_MS;
    const published = publishedText(families, station);
    const version = this.#sinceMs.findIndex((_, candidate) => trueText(station, candidate) === published);
    if (version < 0) return `FALSE: ${published.slice(0, 80)}`;
    const untilMs = this.#sinceMs[version + 1] ?? Number.POSITIVE_INFINITY;
    if (untilMs < fromMs) return 'FALSE: older than published';
    return (this.#sinceMs[version] ?? 0) <= toMs ? 'true' : 'FALSE: newer than published';
  }
}

/** A station that says of itself that it is not what it was: down, or not verified complete. */
export function marked(families: Map<string, ParsedFamily>, station: string): string | undefined {
  const { up, failure = {} } = healthOf(families, station);
  const reason = DOWN_REASONS.find((name) => failure[JSON.stringify({ reason: name })] === 1);
  if (only(up) !== 1) return `down: ${reason}`;
  const { listing_complete, listing_incomplete = {} } = dataOf(families, station);
  if (only(listing_complete) === 1) return undefined;
  const reasons = Object.entries(listing_incomplete).flatMap(([labels, value]) =>
    value === 1 ? JSON.parse(labels).reason : [],
  );
  return `incomplete: ${reasons.join(', ')}`;
}

function only(family: StationMetrics[string] | undefined): number {
  return family?.['{}'] ?? Number.NaN;
}

function entriesOf(station: string, version: number): SourceEntry[] {
  return Array.from({ length: RESOURCES + version }, (_, at) => {
    const number = at + version;
    const state = STATES[(number * 7 + version) % STATES.length];
    return { record: wireRecord(`${station}-${number}`, { state, alert_rules_count: (number + version) % 4 }) };
  });
}

/** The same text for what is true, computed from the records alone, and for what is published. */
function trueText(station: string, version: number): string {
  const records = entriesOf(station, version).map(({ record }) => record as ReturnType<typeof wireRecord>);
  return summaryText(
    new Map(records.map(({ resource_id, state, alert_rules_count }) => [resource_id, `${state} ${alert_rules_count}`])),
    records.filter(({ alert_rules_count }) => alert_rules_count === 0).length,
    0,
  );
}

function publishedText(families: Map<string, ParsedFamily>, station: string): string {
  const data = dataOf(families, station);
  const rules = new Map(
    Object.entries(data['resource_alert_rules'] ?? {}).map(([labels, count]) => [
      JSON.parse(labels).resource_id,
      count,
    ]),
  );
  const resources = Object.entries(data['resource_state'] ?? {}).map(([labels]) => {
    const { resource_id, state } = JSON.parse(labels);
    return [resource_id, `${state} ${rules.get(resource_id)}`] as const;
  });
  const text = summaryText(
    new Map(resources),
    sumOf(data['resources_without_alert_rules']),
    sumOf(data['resources_with_unknown_alert_coverage']),
  );
  const counted = sumOf(data['resources']);
  return counted === resources.length ? text : `${counted} resources, but ${resources.length} states`;
}

function summaryText(resources: ReadonlyMap<string, string>, uncovered: number, unknown: number): string {
  const lines = Array.from(resources, ([id, words]) => `${id} ${words}`).toSorted();
  return `${resources.size} resources, ${uncovered} uncovered, ${unknown} unknown: ${lines.join('\n')}`;
}

function sumOf(family: StationMetrics[string] = {}): number {
  return Object.values(family).reduce((sum, value) => sum + value, 0);
}
