import type { FamilyDescription } from './family.ts';
import { HEALTH_FAMILIES } from './health-families.ts';
import { OWN_FAMILIES } from './own-families.ts';
import { RESOURCE_FAMILIES } from './resource-families.ts';
import { SNAPSHOT_FAMILIES } from './snapshot-families.ts';

/** Every family of a station, in exposition order. */
export const STATION_FAMILIES = [...HEALTH_FAMILIES, ...SNAPSHOT_FAMILIES, ...RESOURCE_FAMILIES] as const;

/** Every family of the exporter, without prom-client's default metrics. */
export const FAMILY_DESCRIPTIONS: readonly FamilyDescription[] = [...STATION_FAMILIES, ...Object.values(OWN_FAMILIES)];

/** The names that `metrics.disabled` accepts. */
export const FAMILY_NAMES: readonly string[] = FAMILY_DESCRIPTIONS.map(({ name }) => name);

type Family = (typeof STATION_FAMILIES)[number] | (typeof OWN_FAMILIES)[keyof typeof OWN_FAMILIES];

export type FamilyName = Family['name'];

/** The fixed labels of a family. */
export type FamilyLabel<Name extends FamilyName> = Extract<Family, { readonly name: Name }>['labels'][number];
