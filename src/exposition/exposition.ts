import { Readable } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { createInflateRaw } from 'node:zlib';
import { hasSameElements } from '../model/listing.ts';
import { getOrCreate } from '../model/sums.ts';
import { labelText } from '../model/values.ts';
import { SerialQueue } from '../tasks/serial-queue.ts';
import type { FamilyDescription, HealthSource } from './family.ts';
import { HEALTH_FAMILIES } from './health-families.ts';
import { EXPORTER_FAMILIES, STATION_OWN_FAMILIES } from './own-families.ts';
import type { OwnMetrics } from './own-metrics.ts';
import {
  joinedSegment,
  type ListedSegment,
  listedSegment,
  type Segment,
  type SegmentsByFamily,
  storedSegment,
  storedTexts,
} from './segment.ts';
import { type ExpositionFormat, familiesText, familyHeader, stationTexts } from './text-format.ts';

interface Exposed {
  readonly served:
    | {
        /** The same object while nothing changed. */
        readonly families: SegmentsByFamily;
        /** Series left out because of a limit. */
        readonly withheld: number;
      }
    | undefined;
}

/** A station as an exposition shows it, with what its further collectors serve. */
interface ExposedView extends HealthSource, Exposed {
  readonly further: readonly (HealthSource['further'][number] & Exposed)[];
}

/** Joins the encoded segments of the stations family by family, and reuses what it has joined until a station changes. */
export class Exposition {
  readonly #disabled: ReadonlySet<string>;
  /** One after another: concurrent scrapes share what the first one joins, instead of a copy for each. */
  readonly #joining = new SerialQueue();
  readonly #headers: Readonly<Record<ExpositionFormat, ReadonlyMap<string, Segment>>>;
  /** Of adjacent stations: health changes with every refresh and is apart from the snapshots. */
  readonly #groups = new Memo<SegmentsByFamily>();
  readonly #stations = new Memo<ListedSegment>();
  readonly #withheld = new Memo<Segment>();

  /** `families`: those of stations, in their order. `disabled`: names of families of the exporter's own metrics. */
  constructor(families: readonly FamilyDescription[], disabled: ReadonlySet<string>) {
    this.#headers = { text: familyHeaders(families, 'text'), openmetrics: familyHeaders(families, 'openmetrics') };
    this.#disabled = disabled;
  }

  /**
   * The given stations only, with the time, as for /probe: a target that has no other metric of the exporter. Joins nothing: responses that
   * are not read share the segments of the stations.
   */
  probeBody(views: readonly ExposedView[], wallMs: number, format: ExpositionFormat): Body {
    const time = { ...EXPORTER_FAMILIES.time_seconds, values: [{ labels: {}, value: wallMs / 1000 }] };
    const text = textSegment(familiesText([time], format, this.#disabled));
    return new Body([...this.#stationSegments(views, format), text, ...END_OF_FILE[format]]);
  }

  /** The given stations only. */
  stationBody(views: readonly ExposedView[], format: ExpositionFormat): Body {
    return new Body([...this.#stationSegments(views, format), ...END_OF_FILE[format]]);
  }

  #stationSegments(views: readonly ExposedView[], format: ExpositionFormat): readonly Segment[] {
    const served = familiesOf(views).filter((families) => families !== undefined);
    return this.#byFamily([encodeHealth(views), ...served], format);
  }

  /** All stations and the exporter's own metrics. */
  async fullBody(views: readonly ExposedView[], own: OwnMetrics, format: ExpositionFormat): Promise<Body> {
    const stations = await this.#joining.run(() => this.#joinStations(views, format));
    return new Body([stations, ...(await this.#ownSegments(views, own, format)), ...END_OF_FILE[format]]);
  }

  async ownBody(views: readonly ExposedView[], own: OwnMetrics, format: ExpositionFormat): Promise<Body> {
    return new Body([...(await this.#ownSegments(views, own, format)), ...END_OF_FILE[format]]);
  }

  async #ownSegments(views: readonly ExposedView[], own: OwnMetrics, format: ExpositionFormat): Promise<Segment[]> {
    const text = textSegment(await own.text(format, this.#disabled));
    const withheld = this.#withheld.of(format, familiesOf(views), () =>
      textSegment(familiesText([withheldSeries(views)], format, this.#disabled)),
    );
    return [text, withheld, textSegment(await own.processText(format))];
  }

  async #joinStations(views: readonly ExposedView[], format: ExpositionFormat): Promise<ListedSegment> {
    const groups: SegmentsByFamily[] = [];
    for (let start = 0; start < views.length; start += GROUP_SIZE) {
      const group = views.slice(start, start + GROUP_SIZE);
      const healths = group.flatMap(collectorsOf).map(({ health }) => health);
      const snapshots = familiesOf(group);
      groups.push(
        this.#groups.of(`health ${start}`, healths, () => encodeHealth(group)),
        this.#groups.of(`snapshots ${start}`, snapshots, () => joinedFamilies(snapshots)),
      );
      // Not with yieldToEventLoop, where refreshes and pages wait too: the deadline of the scrape may be over.
      await nextIteration();
    }
    return this.#stations.of(format, groups, () => listedSegment(this.#byFamily(groups, format)));
  }

  /** The header and the samples of each family that has any. */
  #byFamily(groups: readonly SegmentsByFamily[], format: ExpositionFormat): readonly Segment[] {
    const families: Segment[][] = [];
    for (const [family, header] of this.#headers[format]) {
      const samples = groups.flatMap((group) => group.get(family) ?? []);
      if (samples.length > 0) families.push([header, ...samples]);
    }
    return families.flat();
  }
}

/** What was created last under a name, until one of its sources is another one. */
class Memo<Value> {
  readonly #latest = new Map<string, { readonly sources: readonly unknown[]; readonly value: Value }>();

  of(name: string, sources: readonly unknown[], create: () => Value): Value {
    const latest = this.#latest.get(name);
    if (latest && hasSameElements(latest.sources, sources)) return latest.value;
    const value = create();
    this.#latest.set(name, { sources, value });
    return value;
  }
}

function collectorsOf(view: ExposedView): ExposedView['further'] {
  return [view, ...view.further];
}

function familiesOf(views: readonly ExposedView[]) {
  return views.flatMap(collectorsOf).map(({ served }) => served?.families);
}

const GROUP_SIZE = 50;

const END_OF_FILE: Readonly<Record<ExpositionFormat, readonly Segment[]>> = {
  text: [],
  openmetrics: [textSegment('# EOF\n')],
};

function textSegment(text: string): Segment {
  return storedSegment(Buffer.from(text));
}

function familyHeaders(families: readonly FamilyDescription[], format: ExpositionFormat): ReadonlyMap<string, Segment> {
  return new Map(families.map((family) => [family.name, textSegment(familyHeader(family, format))]));
}

function encodeHealth(views: readonly HealthSource[]): SegmentsByFamily {
  return storedTexts(stationTexts(Object.values(HEALTH_FAMILIES), views));
}

/** Of the exporter's own families the only one that grows with the stations. */
function withheldSeries(views: readonly ExposedView[]) {
  const values = views.map((view) => ({
    labels: { station: labelText(view.spec.name) },
    value: collectorsOf(view).reduce((sum, { served }) => sum + (served?.withheld ?? 0), 0),
  }));
  return { ...STATION_OWN_FAMILIES.series_withheld, values };
}

function joinedFamilies(snapshots: ReturnType<typeof familiesOf>): SegmentsByFamily {
  const families = new Map<string, Segment[]>();
  for (const snapshot of snapshots)
    for (const [family, segments] of snapshot ?? []) getOrCreate(families, family, () => []).push(...segments);
  return new Map(Array.from(families, ([family, segments]) => [family, compacted(segments)]));
}

/** For fewer writes. */
function compacted(segments: readonly Segment[]): Segment[] {
  return [...runsJoined(segments, ({ deflated }) => deflated.length, joinedSegment)];
}

/** Up to this size, what is adjacent is joined; what is larger is not copied. */
const MAX_JOINED = 16 * 1024;

function* runsJoined<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  join: (run: readonly Item[]) => Item,
): Iterable<Item> {
  let run: Item[] = [];
  for (const item of items) {
    if (sizeOf(item) <= MAX_JOINED) {
      run.push(item);
      continue;
    }
    if (run.length > 0) yield join(run);
    yield item;
    run = [];
  }
  if (run.length > 0) yield join(run);
}

/** Deflate, no file name, no modification time, unknown operating system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** An empty deflate block with the final bit set. */
const LAST_BLOCK = Buffer.from([3, 0]);

/** An exposition of compressed segments: gzip concatenates them, plain text inflates them while it is read. */
export class Body {
  readonly plainLength: number;
  readonly gzipLength: number;
  readonly #gzip: readonly Uint8Array[];

  constructor(segments: readonly (Segment | ListedSegment)[]) {
    const { deflated, length, crc } = listedSegment(segments);
    this.#gzip = [GZIP_HEADER, ...deflated, LAST_BLOCK, gzipTrailer(crc, length)];
    this.plainLength = length;
    this.gzipLength = this.#gzip.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  /** A single gzip member, because curl and wget read only the first of several. */
  gzip(): readonly Uint8Array[] {
    return this.#gzip;
  }

  /** Inflates only as fast as it is read: a segment can be a thousand times larger than its deflated bytes. */
  plain(): AsyncIterable<Uint8Array> {
    // Inflating a chunk takes an iteration of the event loop, and a station has several dozen.
    const chunks = runsJoined(this.#gzip.slice(1, -1), ({ length }) => length, Buffer.concat);
    return Readable.from(chunks).pipe(createInflateRaw());
  }
}

function gzipTrailer(crc: number, length: number): Uint8Array {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return trailer;
}
