import { type Clock, systemClock } from '../model/clock.ts';
import type { RefreshContext, StationSource } from '../model/listing.ts';
import type { Collected, CollectorTypes, StationCollector, StationOutput } from '../stations/collector.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { type Aggregates, Aggregation } from './aggregates.ts';
import { type Changes, churnAfter } from './churn.ts';
import { type Comparison, comparisonOf } from './comparison.ts';
import type { EncodedSnapshot, StationEncoder } from './encoder.ts';
import type { Publication } from './family-tables.ts';
import { type FormerStation, type History, historyAfterReload, listsSameResources, noHistory } from './history.ts';
import type { InternedTexts } from './interned-texts.ts';
import type { LabelValues } from './label-values.ts';
import { type LastKnown, lastKnownAfter } from './last-known.ts';
import { type Snapshot, SnapshotReader } from './snapshot.ts';
import type { ResourceSpec } from './spec.ts';

/** What pages show of a station. */
export interface ResourceData extends Publication, Omit<EncodedSnapshot, 'families'> {
  /** What its listing is to those before it. */
  readonly comparison: Comparison;
}

export interface Resources extends CollectorTypes {
  readonly spec: ResourceSpec;
  readonly data: ResourceData;
  /** Against the listing that it was compared with; undefined: unknown. */
  readonly report: Changes | undefined;
}

interface ResourceDependencies {
  readonly source: StationSource;
  readonly texts?: InternedTexts;
  /** Encodes each publication for scrapes, as part of the refresh. */
  readonly encoder: Pick<StationEncoder, 'encode'>;
  readonly clock?: Clock;
}

/** Collects the resources of a station: the snapshot, what changed in it, and what stays as last known. */
export class ResourceCollector implements StationCollector<Resources> {
  readonly name = 'resources';
  readonly #spec: ResourceSpec;
  readonly #encoder: ResourceDependencies['encoder'];
  readonly #clock: Clock;
  readonly #reader: SnapshotReader;
  /** What the latest refresh has left. */
  #served: StationOutput<ResourceData> | undefined;
  /** The station until a reload; undefined after the first refresh. */
  #former: FormerStation | undefined;

  constructor(spec: ResourceSpec, { clock = systemClock, ...dependencies }: ResourceDependencies) {
    this.#spec = spec;
    this.#encoder = dependencies.encoder;
    this.#clock = clock;
    this.#reader = new SnapshotReader(spec, { ...dependencies, clock });
  }

  async collect(context: RefreshContext): Promise<Collected<Resources>> {
    const { cache, maxChanges, states } = this.#spec;
    const snapshot = await this.#reader.read(context);
    const before = this.#served?.data ?? (await this.#firstHistory());
    const { values } = before;
    const comparison = comparisonOf(before.comparison?.base, snapshot, this.#clock.elapsedMs(), cache.maxStaleMs);
    const { changes, ...churn } = await churnAfter(before.churn, snapshot, comparison, { values, maxChanges, states });
    const aggregates = await this.#aggregatesOf(snapshot, values);
    const lastKnown = await this.#lastKnownAfter(before, snapshot, comparison, aggregates);
    const served = await this.#servedAs(
      { spec: this.#spec, snapshot, churn, lastKnown, aggregates, values },
      comparison,
    );
    const commit = () => {
      this.#served = served;
      this.#former = undefined;
    };
    return { served, report: changes, commit };
  }

  adopt(former: ResourceData, isSameService: boolean): void {
    if (isSameService && listsSameResources(former.spec, this.#spec)) this.#former = former;
  }

  async #firstHistory(): Promise<History> {
    return this.#former ? historyAfterReload(this.#former, this.#spec) : noHistory(this.#spec);
  }

  async #aggregatesOf(snapshot: Snapshot, values: LabelValues): Promise<Aggregates> {
    const { data } = this.#served ?? {};
    const { alertability, coverageWithinMs } = this.#spec;
    const overdueBefore = coverageWithinMs === undefined ? undefined : (this.#clock.wallMs() - coverageWithinMs) / 1000;
    if (data?.snapshot === snapshot && data.aggregates.holdsFor(overdueBefore)) return data.aggregates;
    const aggregation = new Aggregation(alertability, values, overdueBefore);
    await forEachPart(snapshot.parts, (part) => {
      for (const resource of part) aggregation.add(resource);
    });
    return aggregation;
  }

  /** What was held becomes older, also while the snapshot is unchanged. */
  async #lastKnownAfter(
    { lastKnown, comparison: former }: History,
    snapshot: Snapshot,
    comparison: Comparison,
    aggregates: Aggregates,
  ): Promise<LastKnown> {
    const isUnchanged = this.#served?.data.snapshot === snapshot && comparison.result === 'compared';
    if (isUnchanged && lastKnown.held.size === 0) return lastKnown;
    const beforeMs = former?.nowMs ?? comparison.nowMs;
    return lastKnownAfter(lastKnown, snapshot, { spec: this.#spec, comparison, aggregates, beforeMs });
  }

  /** An unchanged publication keeps its encoding. */
  async #servedAs(publication: Publication, comparison: Comparison): Promise<StationOutput<ResourceData>> {
    const before = this.#served;
    const { aggregates, churn, lastKnown } = before?.data ?? {};
    // Of an unchanged snapshot, unless a resource became overdue.
    const isUnchanged =
      aggregates === publication.aggregates &&
      churn?.published === publication.churn.published &&
      lastKnown === publication.lastKnown;
    if (before && isUnchanged) return { ...before, data: { ...before.data, churn: publication.churn, comparison } };
    const { families, ...encoded } = await this.#encoder.encode(publication);
    return {
      data: { ...publication, ...encoded, comparison },
      families,
      withheld: encoded.withheld + encoded.withheldFiring,
      repeated: publication.snapshot.repeated,
    };
  }
}
