import { labelText } from '../station/label-text.ts';
import type { Part } from '../station/listing.ts';
import type { Resource } from '../station/resource.ts';
import type { StationSpec } from '../station/spec.ts';
import type { Publication } from '../station/station-cache.ts';
import { type Aggregates, Aggregation } from './aggregates.ts';
import { labelPairs } from './encoding.ts';
import type { HealthSource, ResourceFamily, StationFamily } from './family.ts';
import { HEALTH_FAMILIES } from './health-families.ts';
import { RESOURCE_FAMILIES } from './resource-families.ts';
import { resourceSeries, writeResources } from './resource-text.ts';
import { type Segment, storedSegment } from './segment.ts';
import { SNAPSHOT_FAMILIES } from './snapshot-families.ts';
import { TextRoom } from './text-room.ts';
import type { Workshop } from './workshop.ts';

/** Series ready to be written. */
export type SegmentsByFamily = ReadonlyMap<string, readonly Segment[]>;

/** A snapshot made ready to be served, with what was added up on the way. */
export interface StationForm {
  readonly families: SegmentsByFamily;
  readonly series: number;
  /** Series left out because there are more resources than may be published one by one. */
  readonly withheld: number;
  readonly aggregates: Aggregates;
}

export interface EncodingOptions {
  readonly perResource: boolean;
  readonly maxResources: number;
  readonly disabled: ReadonlySet<string>;
}

/** Resources encoded in one turn and compressed as one: large enough to compress well, small enough not to be felt. */
const BLOCK_SIZE = 1000;

/** Some parts of a snapshot, encoded together; valid for as long as the same parts come again. */
interface Block {
  readonly parts: readonly Part<Resource>[];
  readonly aggregates: Aggregation;
  readonly families: ReadonlyMap<string, Segment>;
  readonly series: number;
  readonly isWithheld: boolean;
}

/** The health of some stations, and how many series each of them has. */
export function encodeHealth(
  sources: readonly HealthSource[],
  { disabled }: EncodingOptions,
): { readonly families: SegmentsByFamily; readonly series: readonly number[] } {
  const room = new TextRoom();
  const series = writeStations(HEALTH_FAMILIES, sources, disabled, room);
  return { families: new Map(Array.from(room.pieces(), ([family, text]) => [family, [storedSegment(text)]])), series };
}

/** The lines that one resource has in the exposition, as long as the station's are not withheld. */
export function resourceLines({ name }: StationSpec, resource: Resource, options: EncodingOptions): string {
  const room = new TextRoom();
  writeResources(labelText(name), [resource], resourceFamilies(options), room);
  return Buffer.concat([...room.pieces().values()]).toString();
}

/** Encodes one station's snapshots, and of each only what the one before did not have. */
export class StationEncoder {
  readonly #spec: StationSpec;
  readonly #options: EncodingOptions;
  readonly #workshop: Workshop;
  readonly #resourceFamilies: readonly ResourceFamily[];
  #blocks = new Map<Part<Resource> | undefined, Block>();

  constructor(spec: StationSpec, options: EncodingOptions, workshop: Workshop) {
    this.#spec = spec;
    this.#options = options;
    this.#workshop = workshop;
    this.#resourceFamilies = resourceFamilies(options);
  }

  async encode(publication: Publication): Promise<StationForm> {
    const { parts, size } = publication.snapshot;
    const isWithheld = size > this.#options.maxResources;
    const blocks: Block[] = [];
    for (const group of grouped(parts)) blocks.push(await this.#block(group, isWithheld));
    this.#blocks = new Map(blocks.map((block) => [block.parts[0], block]));
    const whole = await this.#whole(publication, blocks);
    const single = blocks.reduce((sum, block) => sum + block.series, 0);
    return {
      families: isWithheld ? whole.families : new Map([...whole.families, ...familiesOf(blocks, this.#resourceFamilies)]),
      series: whole.series + (isWithheld ? 0 : single),
      withheld: isWithheld ? single : 0,
      aggregates: whole.aggregates,
    };
  }

  async #block(parts: readonly Part<Resource>[], isWithheld: boolean): Promise<Block> {
    const known = this.#blocks.get(parts[0]);
    const isKnown = known?.parts.length === parts.length && known.parts.every((part, index) => part === parts[index]);
    if (isKnown && known.isWithheld === isWithheld) return known;
    const { product, segments } = await this.#workshop.make((room) => this.#write(parts.flat(), isWithheld, room));
    return { parts, aggregates: product.aggregates, families: segments, series: product.series, isWithheld };
  }

  #write(resources: readonly Resource[], isWithheld: boolean, room: TextRoom): { series: number; aggregates: Aggregation } {
    const aggregates = new Aggregation();
    for (const resource of resources) aggregates.addResource(resource, this.#spec.alertability);
    if (isWithheld) return { aggregates, series: resourceSeries(resources, this.#resourceFamilies) };
    return { aggregates, series: writeResources(labelText(this.#spec.name), resources, this.#resourceFamilies, room) };
  }

  async #whole(publication: Publication, blocks: readonly Block[]): Promise<StationForm> {
    const { product, segments } = await this.#workshop.make((room) => {
      const aggregates = new Aggregation();
      for (const block of blocks) aggregates.addAll(block.aggregates);
      const [series = 0] = writeStations(SNAPSHOT_FAMILIES, [{ ...publication, aggregates }], this.#options.disabled, room);
      return { aggregates, series };
    });
    const families = new Map(Array.from(segments, ([family, segment]) => [family, [segment]]));
    return { families, series: product.series, withheld: 0, aggregates: product.aggregates };
  }
}

function resourceFamilies({ perResource, disabled }: EncodingOptions): readonly ResourceFamily[] {
  return perResource ? RESOURCE_FAMILIES.filter(({ name }) => !disabled.has(name)) : [];
}

/** Neighbouring parts in groups of about the block size. */
function grouped(parts: readonly Part<Resource>[]): Part<Resource>[][] {
  const groups: Part<Resource>[][] = [];
  let room = 0;
  for (const part of parts) {
    if (room < part.length) {
      groups.push([]);
      room = BLOCK_SIZE;
    }
    groups.at(-1)?.push(part);
    room -= part.length;
  }
  return groups;
}

function familiesOf(blocks: readonly Block[], families: readonly ResourceFamily[]): [string, Segment[]][] {
  return families.map(({ name }) => [name, blocks.flatMap((block) => block.families.get(name) ?? [])]);
}

/** A piece per family; tells how many series there are of each source. */
function writeStations<Source extends { readonly spec: StationSpec }>(
  families: readonly StationFamily<Source>[],
  sources: readonly Source[],
  disabled: ReadonlySet<string>,
  room: TextRoom,
): number[] {
  const series = sources.map(() => 0);
  for (const { name, labels, samples, extraLabels } of families) {
    if (disabled.has(name)) continue;
    room.begin(name);
    for (const [at, source] of sources.entries()) {
      const extra = Object.entries(extraLabels?.(source) ?? {});
      const names = [...labels, ...extra.map(([label]) => label)];
      const lines = Array.from(samples(source), ([value, ...values]) => {
        const labelTexts = [source.spec.name, ...values, ...extra.map(([, text]) => text)].map(labelText);
        return `${name}{${labelPairs(names, labelTexts)}} ${value}\n`;
      });
      series[at] = (series[at] ?? 0) + lines.length;
      room.add(lines.join(''));
    }
  }
  return series;
}
