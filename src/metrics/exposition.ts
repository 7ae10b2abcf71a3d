import type { StationView } from '../station/station-cache.ts';
import { TaskQueue } from '../station/task-queue.ts';
import { Body } from './body.ts';
import { STATION_FAMILIES } from './catalogue.ts';
import type { OwnMetrics } from './own-metrics.ts';
import { joinedSegment, type Segment, storedSegment } from './segment.ts';
import { type EncodedSnapshot, type EncodingOptions, encodeHealth, type SegmentsByFamily } from './station-encoder.ts';
import { type ExpositionFormat, familyHeader } from './text-format.ts';

/** What an OpenMetrics exposition must end with. */
const OPENMETRICS_END = storedSegment(Buffer.from('# EOF\n'));

type View = StationView<Pick<EncodedSnapshot, 'families' | 'series' | 'withheld'>>;

/** Puts the kept bytes of the stations together, family by family, and keeps the result until one of them changes. */
export class Exposition {
  readonly #options: EncodingOptions;
  readonly #parts: Parts;
  readonly #headers = { text: headers('text'), openmetrics: headers('openmetrics') };
  readonly #latest = new Map<ExpositionFormat, { readonly parts: readonly SegmentsByFamily[]; readonly body: Body }>();

  constructor(options: EncodingOptions) {
    this.#options = options;
    this.#parts = new Parts(options);
  }

  /** Some stations alone. */
  async stations(views: readonly View[], format: ExpositionFormat): Promise<Body> {
    const { segments } = await new Parts(this.#options).of(views);
    return new Body([...this.#assembled(segments, format), ...end(format)]);
  }

  /** All stations with the exporter's own metrics. */
  async everything(views: readonly View[], own: OwnMetrics, format: ExpositionFormat): Promise<Body> {
    const { segments: parts, series } = await this.#parts.of(views);
    const latest = this.#latest.get(format);
    const isLatest = latest?.parts.length === parts.length && latest.parts.every((part, at) => part === parts[at]);
    const body = isLatest ? latest.body : new Body(this.#assembled(parts, format));
    if (!isLatest) own.published(views.map(({ spec, served }, at) => publishedOf(spec.name, series[at], served?.encoded)));
    this.#latest.set(format, { parts, body });
    const ownText = Buffer.from(await own.text(format, this.#options.disabled));
    return new Body([storedSegment(ownText), ...end(format)], body);
  }

  #assembled(parts: readonly SegmentsByFamily[], format: ExpositionFormat): Segment[] {
    const segments: Segment[] = [];
    for (const [family, header] of this.#headers[format]) {
      const samples = parts.flatMap((part) => part.get(family) ?? []);
      if (samples.length > 0) segments.push(header, ...samples);
    }
    return compacted(segments);
  }
}

/** The segments of neighbouring stations laid together: what changes with every attempt apart from what changes with the data. */
class Parts {
  readonly #health: Groups<View, ReturnType<typeof encodeHealth>>;
  readonly #data: Groups<Pick<EncodedSnapshot, 'families'>, SegmentsByFamily>;

  constructor(options: EncodingOptions) {
    // Not those of the refreshes: a scrape does not queue behind all that they have to do.
    const tasks = new TaskQueue();
    this.#health = new Groups(
      ({ health }) => health,
      (views) => encodeHealth(views, options),
      tasks,
    );
    this.#data = new Groups((form) => form, joinedFamilies, tasks);
  }

  /** And how many series the health of each station has. */
  async of(views: readonly View[]): Promise<{ readonly segments: readonly SegmentsByFamily[]; readonly series: readonly number[] }> {
    const health = await this.#health.of(views);
    const data = await this.#data.of(views.flatMap(({ served }) => served?.encoded ?? []));
    return { segments: [...health.map(({ families }) => families), ...data], series: health.flatMap(({ series }) => series) };
  }
}

function joinedFamilies(forms: readonly Pick<EncodedSnapshot, 'families'>[]): SegmentsByFamily {
  const names = new Set(forms.flatMap(({ families }) => [...families.keys()]));
  return new Map(Array.from(names, (name) => [name, compacted(forms.flatMap(({ families }) => families.get(name) ?? []))]));
}

function publishedOf(name: string, healthSeries = 0, form: Pick<EncodedSnapshot, 'series' | 'withheld'> = { series: 0, withheld: 0 }) {
  return { name, series: healthSeries + form.series, withheld: form.withheld };
}

function end(format: ExpositionFormat): readonly Segment[] {
  return format === 'openmetrics' ? [OPENMETRICS_END] : [];
}

function headers(format: ExpositionFormat): ReadonlyMap<string, Segment> {
  return new Map(STATION_FAMILIES.map((family) => [family.name, storedSegment(Buffer.from(familyHeader(family, format)))]));
}

/** Few enough that making a group anew is a short turn, many enough that there are few groups. */
const GROUP_SIZE = 32;

interface Group<Made> {
  readonly keys: readonly object[];
  readonly made: Made;
}

/** What is made of neighbours in groups, each in a turn of its own; made again only where one of them is another. */
class Groups<Member, Made> {
  readonly #keyOf: (member: Member) => object;
  readonly #make: (members: readonly Member[]) => Made;
  readonly #tasks: TaskQueue;
  #groups: readonly Group<Made>[] = [];

  constructor(keyOf: (member: Member) => object, make: (members: readonly Member[]) => Made, tasks: TaskQueue) {
    this.#keyOf = keyOf;
    this.#make = make;
    this.#tasks = tasks;
  }

  async of(members: readonly Member[]): Promise<readonly Made[]> {
    const groups: Group<Made>[] = [];
    for (let start = 0; start < members.length; start += GROUP_SIZE) {
      const some = members.slice(start, start + GROUP_SIZE);
      const keys = some.map(this.#keyOf);
      const known = this.#groups[groups.length];
      const isKnown = known?.keys.length === keys.length && known.keys.every((key, at) => key === keys[at]);
      groups.push(isKnown ? known : { keys, made: await this.#tasks.run(() => this.#make(some)) });
    }
    this.#groups = groups;
    return groups.map(({ made }) => made);
  }
}

/** Segments up to this size are laid together for fewer writes; larger ones are not copied. */
const SMALL = 16 * 1024;

/** Runs of small segments become one each. */
function compacted(segments: readonly Segment[]): Segment[] {
  const result: Segment[] = [];
  let run: Segment[] = [];
  const flush = () => {
    if (run.length > 0) result.push(joinedSegment(run));
    run = [];
  };
  for (const segment of segments) {
    if (segment.deflated.length > SMALL) flush();
    if (segment.deflated.length > SMALL) result.push(segment);
    else run.push(segment);
  }
  flush();
  return result;
}
