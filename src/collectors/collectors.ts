import type { FamilyDescription } from '../exposition/family.ts';
import { OWN_FAMILIES } from '../exposition/own-families.ts';
import type { CompressorPool } from '../exposition/segment.ts';
import type { StationSource } from '../model/listing.ts';
import { ResourceCollector, type Resources } from '../resources/collector.ts';
import { StationEncoder } from '../resources/encoder.ts';
import { STATION_FAMILIES } from '../resources/families.ts';
import type { InternedTexts } from '../resources/interned-texts.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { MetricsOnly, StationCollector } from '../stations/collector.ts';

/** What is collected beside resources. */
export interface FurtherCollector {
  readonly families: readonly FamilyDescription[];
  /** undefined: not of this station. */
  readonly create: (spec: ResourceSpec, source: StationSource) => StationCollector<MetricsOnly> | undefined;
}

/** One line per collector, in the order of the exposition. */
const FURTHER: readonly FurtherCollector[] = [];

export const COLLECTED_FAMILIES: readonly FamilyDescription[] = [
  ...Object.values(STATION_FAMILIES),
  ...FURTHER.flatMap(({ families }) => families),
];

/** Every family of the exporter, without prom-client's default metrics. */
export const FAMILY_DESCRIPTIONS: readonly FamilyDescription[] = [
  ...COLLECTED_FAMILIES,
  ...Object.values(OWN_FAMILIES),
];

interface CollectorTools {
  /** Of the same station: each collector has its own, with the pages that only it reuses. */
  readonly newSource: () => StationSource;
  readonly texts: InternedTexts;
  readonly compressors: CompressorPool;
}

/** The collector of resources says whether the station is up; the further ones have fates of their own. */
export function stationCollectors(
  spec: ResourceSpec,
  { newSource, texts, compressors }: CollectorTools,
  further = FURTHER,
): { readonly collector: StationCollector<Resources>; readonly further: readonly StationCollector<MetricsOnly>[] } {
  const encoder = new StationEncoder(spec, compressors);
  return {
    collector: new ResourceCollector(spec, { source: newSource(), texts, encoder }),
    further: further.flatMap(({ create }) => create(spec, newSource()) ?? []),
  };
}
