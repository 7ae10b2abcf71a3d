import { setImmediate as nextTurn } from 'node:timers/promises';
import { labelText } from '../station/label-text.ts';
import type { Resource } from '../station/resource.ts';
import type { StationSpec } from '../station/spec.ts';
import type { Publication } from '../station/station-cache.ts';
import { aggregate } from './aggregates.ts';
import { labelPairs } from './encoding.ts';
import type { HealthSource, ResourceFamily, StationFamily } from './family.ts';
import { HEALTH_FAMILIES } from './health-families.ts';
import { RESOURCE_FAMILIES } from './resource-families.ts';
import { SNAPSHOT_FAMILIES } from './snapshot-families.ts';

/** A part of a station's series as bytes, by family. */
export interface StationText {
  readonly chunks: ReadonlyMap<string, readonly Uint8Array[]>;
  readonly series: number;
  /** Series left out because there are more resources than may be published one by one. */
  readonly withheld: number;
}

export interface EncodingOptions {
  readonly perResource: boolean;
  readonly maxResources: number;
  readonly disabled: ReadonlySet<string>;
}

/** Resources encoded in one turn of the event loop. */
const SLICE = 500;

export function encodeHealth(source: HealthSource, { disabled }: EncodingOptions): StationText {
  return encodeFamilies(HEALTH_FAMILIES, source, disabled);
}

/** Encodes a snapshot slice by slice, so that scrapes go on meanwhile. */
export async function encodePublication(publication: Publication, options: EncodingOptions): Promise<StationText> {
  const { spec, snapshot } = publication;
  const aggregates = aggregate(snapshot.resources.values(), spec.alertability);
  const whole = encodeFamilies(SNAPSHOT_FAMILIES, { ...publication, aggregates }, options.disabled);
  if (!options.perResource) return whole;
  const families = RESOURCE_FAMILIES.filter(({ name }) => !options.disabled.has(name));
  if (snapshot.resources.size > options.maxResources) return { ...whole, withheld: seriesOf(snapshot.resources.values(), families) };
  const single = await encodeResources(spec, [...snapshot.resources.values()], families);
  return { chunks: new Map([...whole.chunks, ...single.chunks]), series: whole.series + single.series, withheld: 0 };
}

function encodeFamilies<Source extends { readonly spec: StationSpec }>(
  families: readonly StationFamily<Source>[],
  source: Source,
  disabled: ReadonlySet<string>,
): StationText {
  const chunks = new Map<string, Uint8Array[]>();
  let series = 0;
  for (const { name, labels, samples, extraLabels } of families) {
    if (disabled.has(name)) continue;
    const extra = Object.entries(extraLabels?.(source) ?? {});
    const names = [...labels, ...extra.map(([label]) => label)];
    const station = labelText(source.spec.name);
    const lines = Array.from(samples(source), ([value, ...values]) => {
      const texts = [station, ...values, ...extra.map(([, text]) => text)].map(labelText);
      return `${name}{${labelPairs(names, texts)}} ${value}\n`;
    });
    series += lines.length;
    if (lines.length > 0) chunks.set(name, [Buffer.from(lines.join(''))]);
  }
  return { chunks, series, withheld: 0 };
}

async function encodeResources(
  spec: StationSpec,
  resources: readonly Resource[],
  families: readonly ResourceFamily[],
): Promise<Pick<StationText, 'chunks' | 'series'>> {
  const chunks = new Map<string, Uint8Array[]>(families.map(({ name }) => [name, []]));
  const station = labelText(spec.name);
  let series = 0;
  for (let start = 0; start < resources.length; start += SLICE) {
    const slice = resources.slice(start, start + SLICE);
    const identities = slice.map(({ id, name }) => labelPairs(['station', 'resource_id', 'name'], [station, id, name]));
    for (const family of families) {
      const lines = encodeSlice(family, slice, identities);
      series += lines.length;
      if (lines.length > 0) chunks.get(family.name)?.push(Buffer.from(lines.join('')));
    }
    await nextTurn();
  }
  return { chunks, series };
}

function encodeSlice({ name, labels, sample }: ResourceFamily, slice: readonly Resource[], identities: readonly string[]): string[] {
  const names = labels.slice(3);
  const lines: string[] = [];
  for (const [index, resource] of slice.entries()) {
    const made = sample(resource);
    if (made === undefined) continue;
    const [value, ...values] = made;
    const rest = names.length === 0 ? '' : `,${labelPairs(names, values)}`;
    lines.push(`${name}{${identities[index]}${rest}} ${value}\n`);
  }
  return lines;
}

function seriesOf(resources: Iterable<Resource>, families: readonly ResourceFamily[]): number {
  let series = 0;
  for (const resource of resources) for (const { sample } of families) if (sample(resource) !== undefined) series += 1;
  return series;
}
