import type { CompressorPool, Segment, SegmentsByFamily, TextBuffer } from '../exposition/segment.ts';
import { escapeLabelValue, lineEnds, sampleValue, writeStations } from '../exposition/text-format.ts';
import { hasSameElements, type Part } from '../model/listing.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { FIRING_FAMILIES, RESOURCE_FAMILIES, SNAPSHOT_FAMILIES } from './families.ts';
import type { PerResourceFamily, Publication, ResourceFamily } from './family-tables.ts';
import { type Resource, resourceLabel } from './fields.ts';
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

/** Encodes the snapshots of one station; blocks that did not change are reused, and of the others the families that did not change. */
export class StationEncoder {
  readonly #spec: ResourceSpec;
  readonly #compressors: CompressorPool;
  readonly #resourceFamilies: readonly PerResourceFamily[];
  #blocks: readonly Block[] = [];

  constructor(spec: ResourceSpec, compressors: CompressorPool) {
    this.#spec = spec;
    this.#compressors = compressors;
    this.#resourceFamilies = enabledFamilies(spec);
  }

  async encode(publication: Publication): Promise<EncodedSnapshot> {
    const { parts, size } = publication.snapshot;
    const isWithheld = size > this.#spec.metrics.maxResources;
    const cached = new Map(this.#blocks.map((block) => [block.parts[0], block]));
    const blocks: Block[] = [];
    for (const group of isWithheld ? [] : grouped(parts)) {
      const before = cached.get(group[0]) ?? this.#blocks[blocks.length];
      const isCurrent = before && hasSameElements(before.parts, group);
      blocks.push(isCurrent ? before : await this.#encodeBlock(group, before));
    }
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
    const { result: reused, segments } = await this.#compressors.compress((buffer) => {
      const resources = joinedParts(parts);
      const isReusable = before ? unchangedFamilies(joinedParts(before.parts), resources) : () => false;
      const reusable = this.#resourceFamilies.filter(isReusable);
      const changed = this.#resourceFamilies.filter((family) => !reusable.includes(family));
      writeResources(this.#spec, resources, changed, buffer);
      return reusable;
    });
    const kept = [...(before?.segments ?? [])].filter(([name]) => reused.some((family) => family.name === name));
    return { parts, segments: new Map([...kept, ...segments]) };
  }

  /** All families are written at once, but each in an event-loop iteration of its own when they have many series. */
  async #encodeStation(publication: Publication): Promise<Map<string, readonly Segment[]>> {
    const source = { ...publication, facts: publication.snapshot };
    const all = Object.values(SNAPSHOT_FAMILIES);
    const isLarge = publication.aggregates.groups.length > MAX_GROUPS_PER_TASK;
    const families = new Map<string, readonly Segment[]>();
    for (const written of isLarge ? all.map((family) => [family]) : [all]) {
      const { segments } = await this.#compressors.compress((buffer) =>
        writeStations(written, [source], buffer, this.#spec.resourceLabels.names),
      );
      for (const [name, segment] of segments) families.set(name, [segment]);
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
    const { segments } = await this.#compressors.compress((buffer) =>
      writeResources(this.#spec, resources, families, buffer),
    );
    return { segments, withheld: 0 };
  }
}

function enabledFamilies({ metrics: { perResource, disabled } }: ResourceSpec): readonly PerResourceFamily[] {
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

/** Whether a family has the same samples for both lists: usually states and alert rules change, and most labels do not. */
function unchangedFamilies(
  before: readonly Resource[],
  next: readonly Resource[],
): (family: PerResourceFamily) => boolean {
  const isSame = (field: keyof Resource) => next.every((resource, index) => resource[field] === before[index]?.[field]);
  if (before.length !== next.length || !isSame('id') || !isSame('name')) return () => false;
  return ({ fields }) => fields.every(isSame);
}

async function seriesCount(parts: readonly Part<Resource>[], families: readonly PerResourceFamily[]): Promise<number> {
  let count = 0;
  await forEachPart(parts, (part) => {
    for (const { sample } of families) count += part.filter((resource) => sample(resource)).length;
  });
  return count;
}

/** Lines concatenated before they are written to the buffer. */
const RESOURCES_PER_TEXT = 64;

/** Writes one text per family. */
function writeResources(
  spec: ResourceSpec,
  resources: readonly Resource[],
  families: readonly ResourceFamily[],
  buffer: TextBuffer,
): void {
  const identities = resources.map(({ id, name }) => `${escapeLabelValue(id)}",name="${escapeLabelValue(name)}`);
  for (const family of families) {
    const lineOf = resourceLine(family, spec);
    buffer.begin(family.name);
    let text = '';
    for (let index = 0; index < resources.length; index += 1) {
      text += lineOf(resources[index] as Resource, identities[index] as string);
      if (index % RESOURCES_PER_TEXT === RESOURCES_PER_TEXT - 1) {
        buffer.add(text);
        text = '';
      }
    }
    buffer.add(text);
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
  return (resource, identity) => {
    const values = sample(resource);
    if (values === undefined) return '';
    let line = start + identity;
    for (let at = 0; at < openings.length; at += 1) line += openings[at] + escapeLabelValue(values[at + 1] as string);
    for (const [label, opening] of extra) line += opening + escapeLabelValue(resourceLabel(resource, label));
    return `${line}${end}${sampleValue(values[0])}\n`;
  };
}
