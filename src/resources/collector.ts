import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../model/clock.ts';
import type { ListingContext, StationSource } from '../model/listing.ts';
import type { Collected, Kind, Served, StationCollector } from '../stations/collector.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { type Aggregates, Aggregation } from './aggregates.ts';
import { type Changes, churnAfter, NO_CHURN } from './churn.ts';
import { type Comparison, comparisonOf } from './comparison.ts';
import type { EncodedSnapshot } from './encoder.ts';
import type { Publication } from './family-tables.ts';
import type { InternedTexts } from './interned-texts.ts';
import { LabelValues } from './label-values.ts';
import { type LastKnown, lastKnownAfter, NOTHING_KNOWN } from './last-known.ts';
import { type Snapshot, SnapshotReader } from './snapshot.ts';
import type { ResourceSpec } from './spec.ts';

/** What pages show of a station. */
export interface ResourceData extends Publication, Omit<EncodedSnapshot, 'families'> {
  /** What its listing is to those before it. */
  readonly comparison: Comparison;
}

export interface Resources extends Kind {
  readonly spec: ResourceSpec;
  readonly data: ResourceData;
  /** Against the listing that it was compared with; undefined: unknown. */
  readonly report: Changes | undefined;
}

interface ResourceDependencies {
  readonly source: StationSource;
  readonly texts?: InternedTexts;
  /** Encodes a publication for scrapes: once per snapshot, as part of the refresh. */
  readonly encode: (publication: Publication) => Promise<EncodedSnapshot>;
  readonly clock?: Clock;
}

/** Collects the resources of a station: the snapshot, what changed in it, and what stays as last known. */
export class ResourceCollector implements StationCollector<Resources> {
  readonly #spec: ResourceSpec;
  readonly #encode: ResourceDependencies['encode'];
  readonly #clock: Clock;
  readonly #reader: SnapshotReader;
  readonly #values: LabelValues;
  /** What the refreshes so far have left. */
  #served: Served<ResourceData> | undefined;
  #comparison: Pick<Comparison, 'base' | 'nowMs'> | undefined;
  #churn = NO_CHURN;
  #lastKnown = NOTHING_KNOWN;

  constructor(spec: ResourceSpec, { clock = systemClock, ...dependencies }: ResourceDependencies) {
    this.#spec = spec;
    this.#encode = dependencies.encode;
    this.#clock = clock;
    this.#reader = new SnapshotReader(spec, { ...dependencies, clock });
    this.#values = new LabelValues(spec.labelValues);
  }

  async collect(context: ListingContext): Promise<Collected<Resources>> {
    const { cache, maxChanges, states } = this.#spec;
    const snapshot = await this.#reader.read(context);
    const comparison = comparisonOf(this.#comparison?.base, snapshot, this.#clock.elapsedMs(), cache.maxStaleMs);
    const bounds = { values: this.#values, maxChanges, states };
    const { changes, ...churn } = await churnAfter(this.#churn, snapshot, comparison, bounds);
    const aggregates = await this.#aggregatesOf(snapshot);
    const lastKnown = await this.#lastKnownAfter(snapshot, comparison, aggregates);
    const values = this.#values;
    const publication = { spec: this.#spec, snapshot, churn: churn.published, lastKnown, aggregates, values };
    const served = await this.#servedAs(publication, comparison);
    const commit = () => {
      this.#served = served;
      this.#comparison = comparison;
      this.#churn = churn;
      this.#lastKnown = lastKnown;
    };
    return { served, report: changes, commit };
  }

  /** Keeps what is last known, unless other resources were listed, or with other labels and meanings. */
  adopt({ spec, comparison, lastKnown }: ResourceData, isSameService: boolean): void {
    if (!isSameService || !isDeepStrictEqual(listedBy(spec), listedBy(this.#spec))) return;
    this.#comparison = comparison;
    this.#lastKnown = lastKnown;
  }

  async #aggregatesOf(snapshot: Snapshot): Promise<Aggregates> {
    const { data } = this.#served ?? {};
    if (data?.snapshot === snapshot) return data.aggregates;
    const aggregation = new Aggregation(this.#spec.alertability, this.#values);
    await forEachPart(snapshot.parts, (part) => {
      for (const resource of part) aggregation.add(resource);
    });
    return aggregation;
  }

  /** What was held becomes older, also while the snapshot is unchanged. */
  async #lastKnownAfter(snapshot: Snapshot, comparison: Comparison, aggregates: Aggregates): Promise<LastKnown> {
    const before = this.#lastKnown;
    const isUnchanged = this.#served?.data.snapshot === snapshot && comparison.result === 'compared';
    if (isUnchanged && before.held.size === 0) return before;
    const beforeMs = this.#comparison?.nowMs ?? comparison.nowMs;
    return lastKnownAfter(before, snapshot, { spec: this.#spec, comparison, aggregates, beforeMs });
  }

  /** An unchanged publication keeps its encoding. */
  async #servedAs(publication: Publication, comparison: Comparison): Promise<Served<ResourceData>> {
    const before = this.#served;
    const { snapshot, churn, lastKnown } = before?.data ?? {};
    const isUnchanged =
      snapshot === publication.snapshot && churn === publication.churn && lastKnown === publication.lastKnown;
    if (before && isUnchanged) return { ...before, data: { ...before.data, comparison } };
    const { families, ...encoded } = await this.#encode(publication);
    return {
      data: { ...publication, ...encoded, comparison },
      families,
      withheld: encoded.withheld + encoded.withheldFiring,
      repeated: publication.snapshot.repeated,
    };
  }
}

/** What decides which resources a station lists, with which labels and meanings. */
function listedBy({ upstream, path, filters, products, states, resourceLabels }: ResourceSpec): object {
  return { upstream, path, filters, products, states, resourceLabels };
}
