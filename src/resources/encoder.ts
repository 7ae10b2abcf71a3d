import type { AnySample } from '../exposition/family.ts';
import type { CompressorPool, FamilyText, Segment, SegmentsByFamily } from '../exposition/segment.ts';
import { escapeLabelValue, lineEnds, sampleValue, stationTexts } from '../exposition/text-format.ts';
import { hasSameElements, type Part } from '../model/listing.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { FIRING_FAMILIES, RESOURCE_FAMILIES, SNAPSHOT_FAMILIES } from './families.ts';
import type { Publication, ResourceFamily } from './family-tables.ts';
import { type Resource, resourceLabel } from './fields.ts';
import { quantityReader } from './quantities.ts';
import type { ResourceSpec } from './spec.ts';

/** A snapshot encoded for scrapes. */
export interface EncodedSnapshot {
  readonly families: SegmentsByFamily;
  /** Per-resource series left out because the station exceeds `maxResources`. */
  readonly withheld: number;
  /** Series of firing resources left out because the station exceeds `maxFiringResources`. */
  readonly withheldFiring: number;
}

/** Resources encoded in one event-loop iteration and compressed together: enough to compress well without blocking the event loop. */
const BLOCK_SIZE = 1000;

/** Groups of the aggregates whose families are written in one event-loop iteration. */
const MAX_GROUPS_PER_TASK = 500;

/** Parts of a snapshot that are encoded together; reused while the parts are identical. */
interface Block {
  readonly parts: readonly Part<Resource>[];
  /** By family name; none of a family without samples. */
  readonly segments: ReadonlyMap<string, Segment>;
}

/** Encodes the snapshots of one station; blocks that did not change are reused, and of the others the families whose samples did not change. */
export class StationEncoder {
  readonly #spec: ResourceSpec;
  readonly #compressors: CompressorPool;
  readonly #resourceFamilies: readonly ResourceFamily[];
  #blocks: readonly Block[] = [];

  constructor(spec: ResourceSpec, compressors: CompressorPool) {
    this.#spec = spec;
    this.#compressors = compressors;
    this.#resourceFamilies = enabledFamilies(spec);
  }

  async encode(publication: Publication): Promise<EncodedSnapshot> {
    const { parts, size } = publication.snapshot;
    const isWithheld = size > this.#spec.metrics.maxResources;
    const blocks: Block[] = [];
    for (const [at, group] of (isWithheld ? [] : grouped(parts)).entries())
      blocks.push(await this.#encodeBlock(group, this.#blocks[at]));
    this.#blocks = blocks;
    const families = await this.#encodeStation(publication);
    const firing = await this.#encodeFiring(publication);
    for (const [name, segment] of firing.segments) families.set(name, [segment]);
    for (const { name } of this.#resourceFamilies)
      families.set(
        name,
        blocks.flatMap(({ segments }) => segments.get(name) ?? []),
      );
    const withheld = isWithheld ? await seriesCount(parts, this.#resourceFamilies) : 0;
    return { families, withheld, withheldFiring: firing.withheld };
  }

  async #encodeBlock(parts: readonly Part<Resource>[], before: Block | undefined): Promise<Block> {
    if (before && hasSameElements(before.parts, parts)) return before;
    const resources = joinedParts(parts);
    const changed = changedFamilies(this.#resourceFamilies, joinedParts(before?.parts ?? []), resources);
    const texts = resourceTexts(this.#spec, resources, changed);
    const segments = new Map(before?.segments);
    for (const { name } of changed) segments.delete(name);
    for (const [name, segment] of await this.#compressors.compress(texts)) segments.set(name, segment);
    return { parts, segments };
  }

  /** All families are written at once, but each in an event-loop iteration of its own when they have many series. */
  async #encodeStation(publication: Publication): Promise<Map<string, readonly Segment[]>> {
    const source = { ...publication, listing: publication.snapshot };
    const all = Object.values(SNAPSHOT_FAMILIES);
    const isLarge = publication.aggregates.groups.length > MAX_GROUPS_PER_TASK;
    const families = new Map<string, readonly Segment[]>();
    for (const written of isLarge ? all.map((family) => [family]) : [all]) {
      const texts = stationTexts(written, [source], this.#spec.resourceLabels.names);
      for (const [name, segment] of await this.#compressors.compress(texts)) families.set(name, [segment]);
    }
    return families;
  }

  async #encodeFiring({ lastKnown: { firing, held } }: Publication) {
    const { maxFiringResources, disabled } = this.#spec.metrics;
    const families = Object.values(FIRING_FAMILIES).filter(({ name }) => !disabled.has(name));
    if (firing.size > maxFiringResources) return { segments: [], withheld: firing.size * families.length };
    const known = [...firing.values(), ...Array.from(held.values(), ({ resource }) => resource)];
    const resources = known.slice(0, maxFiringResources);
    if (families.length === 0 || resources.length === 0) return { segments: [], withheld: 0 };
    const segments = await this.#compressors.compress(resourceTexts(this.#spec, resources, families));
    return { segments, withheld: 0 };
  }
}

function enabledFamilies({ metrics: { perResource, disabled } }: ResourceSpec): readonly ResourceFamily[] {
  return perResource ? Object.values(RESOURCE_FAMILIES).filter(({ name }) => !disabled.has(name)) : [];
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
function joinedParts(parts: readonly Part<Resource>[]): readonly Resource[] {
  return ([] as Resource[]).concat(...parts);
}

/** The families with other samples than before: usually states and alert rules change, and most labels do not. */
function changedFamilies(
  families: readonly ResourceFamily[],
  before: readonly Resource[],
  next: readonly Resource[],
): readonly ResourceFamily[] {
  if (before.length !== next.length || !next.every((resource, at) => hasSameLabels(resource, before[at])))
    return families;
  const quantityOf = quantityReader();
  return families.filter(({ sample }) =>
    next.some((resource, at) => {
      const former = before[at] as Resource;
      return resource !== former && !isSame(sample(resource, quantityOf), sample(former, quantityOf));
    }),
  );
}

/** The labels that are not part of a sample. */
function hasSameLabels(a: Resource, b: Resource | undefined): boolean {
  return a.id === b?.id && a.name === b.name && a.labels === b.labels;
}

function isSame(a: AnySample | undefined, b: AnySample | undefined): boolean {
  return a && b ? hasSameElements(a, b) : a === b;
}

async function seriesCount(parts: readonly Part<Resource>[], families: readonly ResourceFamily[]): Promise<number> {
  const quantityOf = quantityReader();
  let count = 0;
  await forEachPart(parts, (part) => {
    for (const { sample } of families) count += part.filter((resource) => sample(resource, quantityOf)).length;
  });
  return count;
}

/** Lines concatenated before they are written to the buffer. */
const RESOURCES_PER_TEXT = 64;

/** Texts of one family after another. */
function* resourceTexts(
  spec: ResourceSpec,
  resources: readonly Resource[],
  families: readonly ResourceFamily[],
): Iterable<FamilyText> {
  const identities = resources.map(({ id, name }) => `${escapeLabelValue(id)}",name="${escapeLabelValue(name)}`);
  for (const family of families) {
    const lineOf = resourceLine(family, spec);
    let text = '';
    for (let index = 0; index < resources.length; index += 1) {
      text += lineOf(resources[index] as Resource, identities[index] as string);
      if (index % RESOURCES_PER_TEXT === RESOURCES_PER_TEXT - 1) {
        yield [family.name, text];
        text = '';
      }
    }
    yield [family.name, text];
  }
}

/** Returns the line of a resource, '' for none. `identity` is its id and its name without the first and the last quote. */
function resourceLine(family: ResourceFamily, spec: ResourceSpec): (resource: Resource, identity: string) => string {
  const { labels, sample, hasRowLabels } = family;
  const ends = lineEnds(family, spec, spec.resourceLabels.names);
  const start = `${ends.start},resource_id="`;
  const end = `"${ends.end}`;
  // Each closes the value before it: every concatenation allocates.
  const openings = labels.slice(labels.indexOf('name') + 1).map((label) => `",${label}="`);
  const resourceLabels = hasRowLabels ? spec.resourceLabels.names : [];
  const extra = resourceLabels.map((label) => [label, `",${label}="`] as const);
  const quantityOf = quantityReader();
  return (resource, identity) => {
    const values = sample(resource, quantityOf);
    if (values === undefined) return '';
    let line = start + identity;
    for (let at = 0; at < openings.length; at += 1) line += openings[at] + escapeLabelValue(values[at + 1] as string);
    for (const [label, opening] of extra) line += opening + escapeLabelValue(resourceLabel(resource, label));
    return `${line}${end}${sampleValue(values[0])}\n`;
  };
}
