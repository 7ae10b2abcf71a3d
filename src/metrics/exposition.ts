import type { Health, StationView } from '../station/station-cache.ts';
import { Body } from './body.ts';
import { type ExpositionFormat, familyHeader } from './encoding.ts';
import { STATION_FAMILIES } from './family-names.ts';
import type { OwnMetrics } from './own-metrics.ts';
import { type Segment, storedSegment } from './segment.ts';
import { compacted, SegmentGroups } from './segment-groups.ts';
import { type EncodingOptions, encodeHealth, type StationSegments } from './station-encoder.ts';

/** What an OpenMetrics exposition must end with. */
const OPENMETRICS_END = storedSegment(Buffer.from('# EOF\n'));

/** Puts the kept bytes of the stations together, family by family, and keeps the result until one of them changes. */
export class Exposition {
  readonly #options: EncodingOptions;
  readonly #health = new WeakMap<Health, StationSegments>();
  readonly #groups = new SegmentGroups();
  readonly #headers = { text: headers('text'), openmetrics: headers('openmetrics') };
  readonly #latest = new Map<ExpositionFormat, { readonly pieces: readonly StationSegments[]; readonly body: Body }>();

  constructor(options: EncodingOptions) {
    this.#options = options;
  }

  /** Some stations alone. */
  stations(views: readonly StationView<StationSegments>[], format: ExpositionFormat): Body {
    return new Body([...this.#assembled(new SegmentGroups().of(this.#pieces(views)), format), ...end(format)]);
  }

  /** All stations with the exporter's own metrics. */
  async everything(views: readonly StationView<StationSegments>[], own: OwnMetrics, format: ExpositionFormat): Promise<Body> {
    const pieces = this.#pieces(views);
    const latest = this.#latest.get(format);
    const isLatest = latest?.pieces.length === pieces.length && latest.pieces.every((piece, index) => piece === pieces[index]);
    const body = isLatest ? latest.body : new Body(this.#assembled(this.#groups.of(pieces), format));
    if (!isLatest) own.published(views.map((view) => this.#published(view)));
    this.#latest.set(format, { pieces, body });
    const ownText = Buffer.from(await own.text(format, this.#options.disabled));
    return new Body([storedSegment(ownText), ...end(format)], body);
  }

  #published(view: StationView<StationSegments>) {
    const form = view.served?.form;
    return { name: view.spec.name, series: this.#healthOf(view).series + (form?.series ?? 0), withheld: form?.withheld ?? 0 };
  }

  /** What changes with every attempt apart from what changes with the data. */
  #pieces(views: readonly StationView<StationSegments>[]): StationSegments[] {
    return [...views.map((view) => this.#healthOf(view)), ...views.flatMap(({ served }) => served?.form ?? [])];
  }

  #healthOf(view: StationView<StationSegments>): StationSegments {
    const known = this.#health.get(view.health);
    if (known) return known;
    const health = encodeHealth(view, this.#options);
    this.#health.set(view.health, health);
    return health;
  }

  #assembled(groups: ReturnType<SegmentGroups['of']>, format: ExpositionFormat): Segment[] {
    const segments: Segment[] = [];
    for (const [family, header] of this.#headers[format]) {
      const samples = groups.flatMap((group) => group.get(family) ?? []);
      if (samples.length > 0) segments.push(header, ...samples);
    }
    return compacted(segments);
  }
}

function end(format: ExpositionFormat): readonly Segment[] {
  return format === 'openmetrics' ? [OPENMETRICS_END] : [];
}

function headers(format: ExpositionFormat): ReadonlyMap<string, Segment> {
  return new Map(STATION_FAMILIES.map((family) => [family.name, storedSegment(Buffer.from(familyHeader(family, format)))]));
}
