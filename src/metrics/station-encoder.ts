import type { Part } from '../station/listing.ts';
import { labelText, type Resource } from '../station/resource.ts';
import type { Publication } from '../station/station-cache.ts';
import type { StationSpec } from '../station/station-spec.ts';
import { type Aggregates, Aggregation } from './aggregates.ts';
import type { CompressorPool } from './compressor-pool.ts';
import type { HealthSource, ResourceFamily, StationFamily } from './family.ts';
import { HEALTH_FAMILIES } from './health-families.ts';
import { RESOURCE_FAMILIES } from './resource-families.ts';
import { type Segment, storedSegment } from './segment.ts';
import { SNAPSHOT_FAMILIES } from './snapshot-families.ts';
import { TextBuffer } from './text-buffer.ts';
import { escapeLabelValue, labelPairs } from './text-format.ts';

/** Series ready to be written. */
export type SegmentsByFamily = ReadonlyMap<string, readonly Segment[]>;

/** A snapshot made ready to be served, with what was added up on the way. */
export interface EncodedSnapshot {
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
  const buffer = new TextBuffer();
  const series = writeStations(HEALTH_FAMILIES, sources, disabled, buffer);
  return { families: new Map(Array.from(buffer.pieces(), ([family, text]) => [family, [storedSegment(text)]])), series };
}

/** The lines that one resource has in the exposition, as long as the station's are not withheld. */
export function resourceLines({ name }: StationSpec, resource: Resource, options: EncodingOptions): string {
  const buffer = new TextBuffer();
  writeResources(labelText(name), [resource], resourceFamilies(options), buffer);
  return Buffer.concat([...buffer.pieces().values()]).toString();
}

/** Encodes one station's snapshots, and of each only what the one before did not have. */
export class StationEncoder {
  readonly #spec: StationSpec;
  readonly #options: EncodingOptions;
  readonly #compressors: CompressorPool;
  readonly #resourceFamilies: readonly ResourceFamily[];
  #blocks = new Map<Part<Resource> | undefined, Block>();

  constructor(spec: StationSpec, options: EncodingOptions, compressors: CompressorPool) {
    this.#spec = spec;
    this.#options = options;
    this.#compressors = compressors;
    this.#resourceFamilies = resourceFamilies(options);
  }

  async encode(publication: Publication): Promise<EncodedSnapshot> {
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
    const { product, segments } = await this.#compressors.make((buffer) => this.#write(parts.flat(), isWithheld, buffer));
    return { parts, aggregates: product.aggregates, families: segments, series: product.series, isWithheld };
  }

  #write(resources: readonly Resource[], isWithheld: boolean, buffer: TextBuffer): { series: number; aggregates: Aggregation } {
    const aggregates = new Aggregation();
    for (const resource of resources) aggregates.addResource(resource, this.#spec.alertability);
    if (isWithheld) return { aggregates, series: resourceSeries(resources, this.#resourceFamilies) };
    return { aggregates, series: writeResources(labelText(this.#spec.name), resources, this.#resourceFamilies, buffer) };
  }

  async #whole(publication: Publication, blocks: readonly Block[]): Promise<EncodedSnapshot> {
    const { product, segments } = await this.#compressors.make((buffer) => {
      const aggregates = new Aggregation();
      for (const block of blocks) aggregates.addAll(block.aggregates);
      const [series = 0] = writeStations(SNAPSHOT_FAMILIES, [{ ...publication, aggregates }], this.#options.disabled, buffer);
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
  let buffer = 0;
  for (const part of parts) {
    if (buffer < part.length) {
      groups.push([]);
      buffer = BLOCK_SIZE;
    }
    groups.at(-1)?.push(part);
    buffer -= part.length;
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
  buffer: TextBuffer,
): number[] {
  const series = sources.map(() => 0);
  for (const { name, labels, samples, extraLabels } of families) {
    if (disabled.has(name)) continue;
    buffer.begin(name);
    for (const [at, source] of sources.entries()) {
      const extra = Object.entries(extraLabels?.(source) ?? {});
      const names = [...labels, ...extra.map(([label]) => label)];
      const lines = Array.from(samples(source), ([value, ...values]) => {
        const labelTexts = [source.spec.name, ...values, ...extra.map(([, text]) => text)].map(labelText);
        return `${name}{${labelPairs(names, labelTexts)}} ${value}\n`;
      });
      series[at] = (series[at] ?? 0) + lines.length;
      buffer.add(lines.join(''));
    }
  }
  return series;
}

/** Resources whose lines are put together as one string: short enough to be forgotten before it would have to be moved. */
const RESOURCES_PER_TEXT = 64;

/**
 * Writes the lines of some resources, a piece per family, and tells how many there are. The station's name comes as a label can carry it;
 * what all lines of a resource have in common is put together once.
 */
function writeResources(station: string, resources: readonly Resource[], families: readonly ResourceFamily[], buffer: TextBuffer): number {
  const prefix = `{station="${escapeLabelValue(station)}",resource_id="`;
  const identities = resources.map(({ id, name }) => `${prefix}${escapeLabelValue(id)}",name="${escapeLabelValue(name)}"`);
  let series = 0;
  for (const { name, labels, sample } of families) {
    // What stands before each label's value; the first closes nothing, because the identity has done so.
    const openings = labels.slice(3).map((label, at) => (at === 0 ? `,${label}="` : `",${label}="`));
    const closing = openings.length === 0 ? '} ' : '"} ';
    buffer.begin(name);
    let text = '';
    for (let index = 0; index < resources.length; index += 1) {
      const made = sample(resources[index] as Resource);
      if (made !== undefined) {
        series += 1;
        text += name + identities[index];
        for (let at = 0; at < openings.length; at += 1) text += openings[at] + escapeLabelValue(made[at + 1] as string);
        text += `${closing}${made[0]}\n`;
      }
      if (index % RESOURCES_PER_TEXT === RESOURCES_PER_TEXT - 1) {
        buffer.add(text);
        text = '';
      }
    }
    buffer.add(text);
  }
  return series;
}

function resourceSeries(resources: readonly Resource[], families: readonly ResourceFamily[]): number {
  let series = 0;
  for (const resource of resources) for (const { sample } of families) if (sample(resource) !== undefined) series += 1;
  return series;
}
