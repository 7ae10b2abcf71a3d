import type { FamilyDescription } from './family.ts';
import { HEALTH_FAMILIES } from './health-families.ts';
import { OWN_FAMILIES } from './own-families.ts';
import { RESOURCE_FAMILIES } from './resource-families.ts';
import { SNAPSHOT_FAMILIES } from './snapshot-families.ts';

/** Every family of a station, in the order of the exposition. */
export const STATION_FAMILIES: readonly FamilyDescription[] = [...HEALTH_FAMILIES, ...SNAPSHOT_FAMILIES, ...RESOURCE_FAMILIES];

/** Every family that the configuration can name. */
export const FAMILY_NAMES: readonly string[] = [...STATION_FAMILIES, ...Object.values(OWN_FAMILIES)].map(({ name }) => name);
