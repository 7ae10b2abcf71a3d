/** The keys that name a telemetry station's place in the service, from the outside in. */
export const PATH_KEYS = ['subscription', 'resource_group', 'zone', 'telemetry_station'] as const;

export type PathKey = (typeof PATH_KEYS)[number];

export type PathParts = Readonly<Record<PathKey, string>>;

export const RID_FORM = '/subscriptions/<subscription>/resourceGroups/<group>/zones/<zone>/telemetryStations/<name>';

const RID = /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/zones\/([^/]+)\/telemetryStations\/([^/]+)$/;

/** The parts of a resource id; undefined for any other text. */
export function parseRid(rid: string): PathParts | undefined {
  const [, subscription, resource_group, zone, telemetry_station] = RID.exec(rid) ?? [];
  if (subscription === undefined || resource_group === undefined || zone === undefined || telemetry_station === undefined) return undefined;
  const parts = { subscription, resource_group, zone, telemetry_station };
  return Object.values(parts).every(isPathPart) ? parts : undefined;
}

/** A dot or two would climb in the path, half a surrogate pair cannot be encoded. */
export function isPathPart(part: string): boolean {
  return part !== '' && part !== '.' && part !== '..' && part.isWellFormed();
}
