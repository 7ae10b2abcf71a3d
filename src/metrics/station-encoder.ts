import type { Part } from '../model/listing.ts';
import { labelText, type Resource } from '../model/resource.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { LabelValues } from '../refresh/label-values.ts';
import type { Publication } from '../refresh/station-cache.ts';
import { type Aggregates, Aggregation } from './aggregates.ts';
import type { CompressorPool } from './compressor-pool.ts';
import type { HealthSource, ResourceFamily, StationFamily } from './family.ts';
import { HEALTH_FAMILIES } from './health-families.ts';
import { RESOURCE_FAMILIES } from './resource-families.ts';
import { type Segment, storedSegment } from './segment.ts';
import { SNAPSHOT_FAMILIES } from './snapshot-families.ts';
import { TextBuffer } from './text-buffer.ts';
import { escapeLabelValue, sampleValue } from './text-format.ts';

/** Encoded samples by family name. */
export type SegmentsByFamily = ReadonlyMap<string, readonly Segment[]>;

/** A snapshot encoded for scrapes, with its aggregates. */
export interface EncodedSnapshot {
  readonly families: SegmentsByFamily;
  readonly series: number;
  /** Per-resource series left out because the station exceeds `maxResources`. */
  readonly withheld: number;
  readonly aggregates: Aggregates;
}

/** Resources encoded in one event-loop iteration and compressed together: enough to compress well without blocking the event loop. */
const BLOCK_SIZE = 1000;

/** Parts of a snapshot that are encoded together; reused while the parts are identical. */
interface Block {
  readonly parts: readonly Part<Resource>[];
  readonly aggregates: Aggregation;
  readonly families: ReadonlyMap<string, Segment>;
  /** By family. */
  readonly series: ReadonlyMap<string, number>;
  readonly isWithheld: boolean;
}

/** Encodes the health of stations; `series` is the number of series per station. */
export function encodeHealth(sources: readonly HealthSource[]): {
  readonly families: SegmentsByFamily;
  readonly series: readonly number[];
} {
  const buffer = new TextBuffer();
  const series = writeStations(HEALTH_FAMILIES, sources, buffer);
  return { families: new Map(Array.from(buffer.texts(), ([family, text]) => [family, [storedSegment(text)]])), series };
}

/** The exposition lines of one resource, even if those of its station are withheld. */
export function resourceLines(spec: StationSpec, resource: Resource): string {
  const buffer = new TextBuffer();
  writeResources(labelText(spec.name), [resource], resourceFamilies(spec), buffer);
  return Buffer.concat([...buffer.texts().values()]).toString();
}

/** Encodes the snapshots of one station; blocks that did not change are reused, and of the others the families that did not change. */
export class StationEncoder {
  readonly #spec: StationSpec;
  readonly #compressors: CompressorPool;
  readonly #resourceFamilies: readonly ResourceFamily[];
  #blocks: readonly Block[] = [];

  constructor(spec: StationSpec, compressors: CompressorPool) {
    this.#spec = spec;
    this.#compressors = compressors;
    this.#resourceFamilies = resourceFamilies(spec);
  }

  async encode(publication: Publication): Promise<EncodedSnapshot> {
    const { parts, size } = publication.snapshot;
    const isWithheld = size > this.#spec.metrics.maxResources;
    const cached = new Map(this.#blocks.map((block) => [block.parts[0], block]));
    const blocks: Block[] = [];
    for (const group of grouped(parts)) {
      const before = cached.get(group[0]) ?? this.#blocks[blocks.length];
      blocks.push(await this.#block(group, isWithheld, publication.values, before));
    }
    this.#blocks = blocks;
    const station = await this.#encodeStation(publication, blocks);
    const resourceSeries = blocks.reduce(
      (sum, { series }) => sum + [...series.values()].reduce((all, one) => all + one, 0),
      0,
    );
    return {
      families: isWithheld
        ? station.families
        : new Map([...station.families, ...familiesOf(blocks, this.#resourceFamilies)]),
      series: station.series + (isWithheld ? 0 : resourceSeries),
      withheld: isWithheld ? resourceSeries : 0,
      aggregates: station.aggregates,
    };
  }

  async #block(
    parts: readonly Part<Resource>[],
    isWithheld: boolean,
    values: LabelValues,
    before: Block | undefined,
  ): Promise<Block> {
    const isUnchanged =
      before?.parts.length === parts.length && before.parts.every((part, index) => part === parts[index]);
    if (isUnchanged && before.isWithheld === isWithheld) return before;
    const { result, segments } = await this.#compressors.compress((buffer) =>
      this.#write(joined(parts), isWithheld, values, before, buffer),
    );
    const families = new Map([...result.reused, ...segments]);
    return { parts, aggregates: result.aggregates, families, series: result.series, isWithheld };
  }

  #write(
    resources: readonly Resource[],
    isWithheld: boolean,
    values: LabelValues,
    before: Block | undefined,
    buffer: TextBuffer,
  ) {
    const aggregates = new Aggregation();
    for (const resource of resources) aggregates.addResource(resource, this.#spec.alertability, values);
    if (isWithheld) return { aggregates, series: countSeries(resources, this.#resourceFamilies), reused: [] };
    const isUnchanged = before && !before.isWithheld ? unchangedFamilies(joined(before.parts), resources) : () => false;
    const changed = this.#resourceFamilies.filter((family) => !isUnchanged(family));
    const written = writeResources(labelText(this.#spec.name), resources, changed, buffer);
    const reused = [...(before?.families ?? [])].filter(([family]) => !written.has(family));
    return { aggregates, series: new Map([...(before?.series ?? []), ...written]), reused };
  }

  async #encodeStation(publication: Publication, blocks: readonly Block[]): Promise<EncodedSnapshot> {
    const { result, segments } = await this.#compressors.compress((buffer) => {
      const aggregates = new Aggregation();
      for (const block of blocks) aggregates.merge(block.aggregates);
      const [series = 0] = writeStations(SNAPSHOT_FAMILIES, [{ ...publication, aggregates }], buffer);
      return { aggregates, series };
    });
    const families = new Map(Array.from(segments, ([family, segment]) => [family, [segment]]));
    return { families, series: result.series, withheld: 0, aggregates: result.aggregates };
  }
}

function resourceFamilies({ metrics: { perResource, disabled } }: StationSpec): readonly ResourceFamily[] {
  return perResource ? RESOURCE_FAMILIES.filter(({ name }) => !disabled.has(name)) : [];
}

/** Adjacent parts in groups of about BLOCK_SIZE resources. */
function grouped(parts: readonly Part<Resource>[]): Part<Resource>[][] {
  const groups: Part<Resource>[][] = [];
  let remaining = 0;
  for (const part of parts) {
    if (remaining < part.length) {
      groups.push([]);
      remaining = BLOCK_SIZE;
    }
    groups.at(-1)?.push(part);
    remaining -= part.length;
  }
  return groups;
}

/** `concat` copies arrays as a whole, `flat` visits every element. */
function joined(parts: readonly Part<Resource>[]): readonly Resource[] {
  return ([] as Resource[]).concat(...parts);
}

function familiesOf(blocks: readonly Block[], families: readonly ResourceFamily[]): [string, Segment[]][] {
  return families.map(({ name }) => [name, blocks.flatMap((block) => block.families.get(name) ?? [])]);
}

/** Writes one text per family; returns the number of series per source. */
function writeStations<Source extends { readonly spec: StationSpec }>(
  families: readonly StationFamily<Source>[],
  sources: readonly Source[],
  buffer: TextBuffer,
): number[] {
  const series = sources.map(() => 0);
  const stations = sources.map(({ spec }) => `{station="${escapeLabelValue(labelText(spec.name))}"`);
  for (const { name, labels, samples, extraLabels } of families) {
    const openings = labels.slice(1).map((label) => `,${label}="`);
    let text = '';
    for (const [at, source] of sources.entries()) {
      if (source.spec.metrics.disabled.has(name)) continue;
      const extra = extraLabels ? labelsText(extraLabels(source)) : '';
      for (const [value, ...values] of samples(source)) {
        text += name + stations[at];
        for (const [index, opening] of openings.entries())
          text += `${opening}${escapeLabelValue(labelText(values[index] ?? ''))}"`;
        text += `${extra}} ${sampleValue(value)}\n`;
        series[at] = (series[at] ?? 0) + 1;
      }
    }
    buffer.begin(name);
    buffer.add(text);
  }
  return series;
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `,${name}="${escapeLabelValue(labelText(value))}"`)
    .join('');
}

/** Lines concatenated before they are written to the buffer: few enough that the string dies in V8's new space. */
const RESOURCES_PER_TEXT = 64;

/** Whether a family has the same samples for both lists: usually states and alert rules change, and most labels do not. */
function unchangedFamilies(
  before: readonly Resource[],
  next: readonly Resource[],
): (family: ResourceFamily) => boolean {
  const isSame = (field: keyof Resource) => next.every((resource, index) => resource[field] === before[index]?.[field]);
  if (before.length !== next.length || !isSame('id') || !isSame('name')) return () => false;
  return ({ fields }) => fields.every(isSame);
}

/** Writes one text per family; returns the number of series per family. `station` is a valid label value, not yet escaped. */
function writeResources(
  station: string,
  resources: readonly Resource[],
  families: readonly ResourceFamily[],
  buffer: TextBuffer,
): Map<string, number> {
  const prefix = `{station="${escapeLabelValue(station)}",resource_id="`;
  const identities = resources.map(
    ({ id, name }) => `${prefix}${escapeLabelValue(id)}",name="${escapeLabelValue(name)}"`,
  );
  const written = new Map<string, number>();
  for (const { name, labels, sample } of families) {
    let series = 0;
    // The text before each label value; the first closes no quote, because the identity ends with one.
    const openings = labels.slice(3).map((label, at) => (at === 0 ? `,${label}="` : `",${label}="`));
    const closing = openings.length === 0 ? '} ' : '"} ';
    buffer.begin(name);
    let text = '';
    for (let index = 0; index < resources.length; index += 1) {
      const values = sample(resources[index] as Resource);
      if (values !== undefined) {
        series += 1;
        text += name + identities[index];
        for (let at = 0; at < openings.length; at += 1)
          text += openings[at] + escapeLabelValue(values[at + 1] as string);
        text += `${closing}${sampleValue(values[0])}\n`;
      }
      if (index % RESOURCES_PER_TEXT === RESOURCES_PER_TEXT - 1) {
        buffer.add(text);
        text = '';
      }
    }
    buffer.add(text);
    written.set(name, series);
  }
  return written;
}

function countSeries(resources: readonly Resource[], families: readonly ResourceFamily[]): Map<string, number> {
  return new Map(
    families.map(({ name, sample }) => [
      name,
      resources.reduce((sum, resource) => (sample(resource) ? sum + 1 : sum), 0),
    ]),
  );
}
