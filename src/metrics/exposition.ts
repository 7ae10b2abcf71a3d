import { TaskQueue } from '../model/task-queue.ts';
import type { StationView } from '../refresh/station-cache.ts';
import { STATION_FAMILIES } from './catalogue.ts';
import type { OwnMetrics } from './own-metrics.ts';
import { Body, joinedSegment, type Segment, storedSegment } from './segment.ts';
import { type EncodedSnapshot, encodeHealth, type SegmentsByFamily } from './station-encoder.ts';
import { type ExpositionFormat, familyHeader } from './text-format.ts';

const OPENMETRICS_EOF = storedSegment(Buffer.from('# EOF\n'));

type View = StationView<Pick<EncodedSnapshot, 'families' | 'series' | 'withheld'>>;

/** Assembles the encoded segments of the stations family by family, and caches the result until a station changes. */
export class Exposition {
  readonly #disabled: ReadonlySet<string>;
  readonly #cache = new SegmentCache();
  readonly #headers = { text: headers('text'), openmetrics: headers('openmetrics') };
  readonly #latest = new Map<ExpositionFormat, { readonly groups: readonly SegmentsByFamily[]; readonly body: Body }>();

  /** `disabled`: names of families of the exporter's own metrics. */
  constructor(disabled: ReadonlySet<string> = new Set()) {
    this.#disabled = disabled;
  }

  /** The given stations only, as for /probe. Joins nothing: responses that are not read share the segments of the stations. */
  stationBody(views: readonly View[], format: ExpositionFormat): Body {
    const { families } = encodeHealth(views);
    const groups = [families, ...views.flatMap(({ served }) => served?.encoded.families ?? [])];
    return new Body([...this.#byFamily(groups, format), ...endOfFile(format)]);
  }

  /** All stations and the exporter's own metrics. */
  async fullBody(views: readonly View[], own: OwnMetrics, format: ExpositionFormat): Promise<Body> {
    const { groups, series } = await this.#cache.get(views);
    const latest = this.#latest.get(format);
    const isUnchanged =
      latest?.groups.length === groups.length && latest.groups.every((group, at) => group === groups[at]);
    const body = isUnchanged ? latest.body : new Body(compacted(this.#byFamily(groups, format)));
    if (!isUnchanged)
      own.recordSeries(views.map(({ spec, served }, at) => seriesOf(spec.name, series[at], served?.encoded)));
    this.#latest.set(format, { groups, body });
    return new Body(await this.#ownSegments(own, format), body);
  }

  /** The exporter's own metrics alone. */
  async ownBody(views: readonly View[], own: OwnMetrics, format: ExpositionFormat): Promise<Body> {
    const { series } = await this.#cache.get(views);
    own.recordSeries(views.map(({ spec, served }, at) => seriesOf(spec.name, series[at], served?.encoded)));
    return new Body(await this.#ownSegments(own, format));
  }

  async #ownSegments(own: OwnMetrics, format: ExpositionFormat): Promise<readonly Segment[]> {
    return [storedSegment(Buffer.from(await own.text(format, this.#disabled))), ...endOfFile(format)];
  }

  #byFamily(groups: readonly SegmentsByFamily[], format: ExpositionFormat): Segment[] {
    const segments: Segment[] = [];
    for (const [family, header] of this.#headers[format]) {
      const samples = groups.flatMap((group) => group.get(family) ?? []);
      if (samples.length > 0) segments.push(header, ...samples);
    }
    return segments;
  }
}

/** The groups, and the number of health series of each station. */
interface Grouped {
  readonly groups: readonly SegmentsByFamily[];
  readonly series: readonly number[];
}

/** The segments of adjacent stations, joined in groups: health changes with every refresh and is grouped apart from the data. */
class SegmentCache {
  readonly #health: GroupCache<View, ReturnType<typeof encodeHealth>>;
  readonly #data: GroupCache<Pick<EncodedSnapshot, 'families'>, SegmentsByFamily>;
  #latest: Promise<unknown> = Promise.resolve();

  constructor() {
    // Not the queue of the refreshes, so that a scrape does not wait for them.
    const tasks = new TaskQueue();
    this.#health = new GroupCache(({ health }) => health, encodeHealth, tasks);
    this.#data = new GroupCache((encoded) => encoded, joinedFamilies, tasks);
  }

  /** One call after another: concurrent scrapes share what the first one joins, instead of a copy for each. */
  get(views: readonly View[]): Promise<Grouped> {
    const grouped = this.#latest.then(() => this.#get(views));
    this.#latest = grouped.catch(() => undefined);
    return grouped;
  }

  async #get(views: readonly View[]): Promise<Grouped> {
    const health = await this.#health.get(views);
    const data = await this.#data.get(views.flatMap(({ served }) => served?.encoded ?? []));
    return {
      groups: [...health.map(({ families }) => families), ...data],
      series: health.flatMap(({ series }) => series),
    };
  }
}

function joinedFamilies(snapshots: readonly Pick<EncodedSnapshot, 'families'>[]): SegmentsByFamily {
  const names = new Set(snapshots.flatMap(({ families }) => [...families.keys()]));
  return new Map(
    Array.from(names, (name) => [name, compacted(snapshots.flatMap(({ families }) => families.get(name) ?? []))]),
  );
}

function seriesOf(
  name: string,
  healthSeries = 0,
  encoded: Pick<EncodedSnapshot, 'series' | 'withheld'> = { series: 0, withheld: 0 },
) {
  return { name, series: healthSeries + encoded.series, withheld: encoded.withheld };
}

function endOfFile(format: ExpositionFormat): readonly Segment[] {
  return format === 'openmetrics' ? [OPENMETRICS_EOF] : [];
}

function headers(format: ExpositionFormat): ReadonlyMap<string, Segment> {
  return new Map(
    STATION_FAMILIES.map((family) => [family.name, storedSegment(Buffer.from(familyHeader(family, format)))]),
  );
}

/** Small enough to rebuild a group without blocking the event loop, large enough to keep the number of groups low. */
const GROUP_SIZE = 32;

interface CachedGroup<Result> {
  readonly keys: readonly object[];
  readonly result: Result;
}

/** Computes a result per group of adjacent members, one group per event-loop iteration; reuses it while the keys of the group are the same. */
class GroupCache<Member, Result> {
  readonly #keyOf: (member: Member) => object;
  readonly #compute: (members: readonly Member[]) => Result;
  readonly #tasks: TaskQueue;
  #groups: readonly CachedGroup<Result>[] = [];

  constructor(keyOf: (member: Member) => object, compute: (members: readonly Member[]) => Result, tasks: TaskQueue) {
    this.#keyOf = keyOf;
    this.#compute = compute;
    this.#tasks = tasks;
  }

  async get(members: readonly Member[]): Promise<readonly Result[]> {
    const groups: CachedGroup<Result>[] = [];
    for (let start = 0; start < members.length; start += GROUP_SIZE) {
      const group = members.slice(start, start + GROUP_SIZE);
      const keys = group.map(this.#keyOf);
      const cached = this.#groups[groups.length];
      const isUnchanged = cached?.keys.length === keys.length && cached.keys.every((key, at) => key === keys[at]);
      groups.push(isUnchanged ? cached : { keys, result: await this.#tasks.run(() => this.#compute(group)) });
    }
    this.#groups = groups;
    return groups.map(({ result }) => result);
  }
}

/** Segments up to this size are joined for fewer writes; larger ones are not copied. */
const MAX_JOINED = 16 * 1024;

/** Joins each run of small segments. */
function compacted(segments: readonly Segment[]): Segment[] {
  const result: Segment[] = [];
  let run: Segment[] = [];
  const flush = () => {
    if (run.length > 0) result.push(joinedSegment(run));
    run = [];
  };
  for (const segment of segments) {
    if (segment.deflated.length > MAX_JOINED) flush();
    if (segment.deflated.length > MAX_JOINED) result.push(segment);
    else run.push(segment);
  }
  flush();
  return result;
}
