import type { Health, StationView } from '../station/station-cache.ts';
import { Body } from './body.ts';
import { type ExpositionFormat, familyHeader } from './encoding.ts';
import { STATION_FAMILIES } from './family-names.ts';
import type { OwnMetrics } from './own-metrics.ts';
import { joinedSegment, type Segment, storedSegment } from './segment.ts';
import { type EncodingOptions, encodeHealth, type StationSegments } from './station-encoder.ts';

/** Segments up to this size are laid together for fewer writes; larger ones are not copied. */
const SMALL = 16 * 1024;

/** What an OpenMetrics exposition must end with. */
const OPENMETRICS_END = storedSegment(Buffer.from('# EOF\n'));

/** Puts the kept bytes of the stations together, family by family, and keeps the result until one of them changes. */
export class Exposition {
  readonly #options: EncodingOptions;
  readonly #health = new WeakMap<Health, StationSegments>();
  readonly #headers = { text: headers('text'), openmetrics: headers('openmetrics') };
  readonly #latest = new Map<ExpositionFormat, { readonly pieces: readonly StationSegments[]; readonly body: Body }>();

  constructor(options: EncodingOptions) {
    this.#options = options;
  }

  /** Some stations alone. */
  stations(views: readonly StationView<StationSegments>[], format: ExpositionFormat): Body {
    return new Body([...this.#assembled(this.#pieces(views), format), ...end(format)]);
  }

  /** All stations with the exporter's own metrics. */
  async everything(views: readonly StationView<StationSegments>[], own: OwnMetrics, format: ExpositionFormat): Promise<Body> {
    const pieces = this.#pieces(views);
    const latest = this.#latest.get(format);
    const isLatest = latest?.pieces.length === pieces.length && latest.pieces.every((piece, index) => piece === pieces[index]);
    const body = isLatest ? latest.body : new Body(this.#assembled(pieces, format));
    if (!isLatest) own.published(views.map((view) => this.#published(view)));
    this.#latest.set(format, { pieces, body });
    const ownText = Buffer.from(await own.text(format, this.#options.disabled));
    return new Body([storedSegment(ownText), ...end(format)], body);
  }

  #published(view: StationView<StationSegments>) {
    const series = this.#pieces([view]).reduce((sum, piece) => sum + piece.series, 0);
    return { name: view.spec.name, series, withheld: view.served?.form.withheld ?? 0 };
  }

  #pieces(views: readonly StationView<StationSegments>[]): StationSegments[] {
    return views.flatMap((view) => {
      let health = this.#health.get(view.health);
      if (!health) {
        health = encodeHealth(view, this.#options);
        this.#health.set(view.health, health);
      }
      return view.served ? [health, view.served.form] : [health];
    });
  }

  #assembled(pieces: readonly StationSegments[], format: ExpositionFormat): Segment[] {
    const segments: Segment[] = [];
    for (const [family, header] of this.#headers[format]) {
      const samples = pieces.flatMap((piece) => piece.families.get(family) ?? []);
      if (samples.length > 0) segments.push(header, ...samples);
    }
    return compacted(segments);
  }
}

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

function end(format: ExpositionFormat): readonly Segment[] {
  return format === 'openmetrics' ? [OPENMETRICS_END] : [];
}

function headers(format: ExpositionFormat): ReadonlyMap<string, Segment> {
  return new Map(STATION_FAMILIES.map((family) => [family.name, storedSegment(Buffer.from(familyHeader(family, format)))]));
}
