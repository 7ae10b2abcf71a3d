import * as z from 'zod';
import { STATION_INFO } from '../metrics/health-families.ts';
import { type CrossProblem, crossChecked, type Unchecked } from './cross-check.ts';
import { duration, text, timerDuration } from './scalar-schemas.ts';

/** The keys that name a telemetry station's place in the service, from the outside in. */
const PATH_KEYS = ['subscription', 'resource_group', 'zone', 'telemetry_station'] as const;

type PathKey = (typeof PATH_KEYS)[number];

export type PathParts = Readonly<Record<PathKey, string>>;

const RID_FORM = '/subscriptions/<subscription>/resourceGroups/<group>/zones/<zone>/telemetryStations/<name>';

const RID = /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/zones\/([^/]+)\/telemetryStations\/([^/]+)$/;

/** The parts of a resource id; undefined for any other text. */
export function parseRid(rid: string): PathParts | undefined {
  const [, subscription, resource_group, zone, telemetry_station] = RID.exec(rid) ?? [];
  if (subscription === undefined || resource_group === undefined || zone === undefined || telemetry_station === undefined) return undefined;
  const parts = { subscription, resource_group, zone, telemetry_station };
  return Object.values(parts).every(isPathPart) ? parts : undefined;
}

/** A dot or two would climb in the path, half a surrogate pair cannot be encoded. */
function isPathPart(part: string): boolean {
  return part !== '' && part !== '.' && part !== '..' && part.isWellFormed();
}

const RESERVED_LABELS: ReadonlySet<string> = new Set(STATION_INFO.labels);

const pathPart = z
  .string()
  .refine(isPathPart, { error: 'found what cannot be part of a path, expected a name other than the empty one, a dot and two dots' });

const filters = z.strictObject({
  resource_ids: z.array(text).exactOptional().describe('Only these resources.'),
  resource_type: text.exactOptional().describe('Only resources of this type.'),
  resource_types: z.array(text).exactOptional().describe('Only resources of these types.'),
  product: text.exactOptional().describe('Only resources of this product.'),
  resource_display_name_prefix: text.exactOptional().describe('Only resources whose display name begins so.'),
  enabled_alert: z.boolean().exactOptional().describe('Only resources that can have alerts.'),
});

const stationCache = z.strictObject({
  ttl: timerDuration.exactOptional().describe('In place of `cache.ttl`.'),
  max_stale: duration.exactOptional().describe('In place of `cache.max_stale`.'),
  error_ttl: timerDuration.exactOptional().describe('In place of `cache.error_ttl`.'),
});

const labelName = z
  .string()
  .regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, { error: 'a label name of letters, digits and underscores, beginning with no digit', abort: true })
  .refine((name) => !name.startsWith('__'), {
    error: 'names that begin with two underscores are reserved, expected another one',
    abort: true,
  })
  .refine((name) => !RESERVED_LABELS.has(name), { error: `${STATION_INFO.name} has this label already, expected another one` });

export const station = crossChecked(
  z.strictObject({
    name: text
      .exactOptional()
      .describe('The value of the label `station`, unique among all stations. Default: the name of the telemetry station.'),
    upstream: z.string().exactOptional().describe('The upstream to ask. Default: the only one.'),
    subscription: pathPart.exactOptional().describe('The subscription of the telemetry station.'),
    resource_group: pathPart.exactOptional().describe('The resource group of the telemetry station.'),
    zone: pathPart.exactOptional().describe('The availability zone of the telemetry station.'),
    telemetry_station: pathPart.exactOptional().describe('The name of the telemetry station.'),
    rid: z
      .string()
      .refine((rid) => parseRid(rid) !== undefined, { error: `found a string of another form, expected ${RID_FORM}` })
      .exactOptional()
      .describe(`In place of the four keys above: \`${RID_FORM}\`.`),
    filters: filters.prefault({}).describe('What narrows the listing; what is left out is not sent.'),
    products: z.array(text).prefault([]).describe('Products to label resources with; each costs one further listing.'),
    alertability: z.boolean().prefault(false).describe('Learn which resources can have alerts; costs one further listing.'),
    cache: stationCache.prefault({}).describe('What differs from the global `cache`.'),
    labels: z.record(labelName, z.string()).prefault({}).describe('Further labels of `telemetry_station_info`.'),
  }),
  function* (value) {
    yield* pathProblems(value);
    if (Array.isArray(value.products)) yield* duplicateProducts(value.products);
  },
);

function* pathProblems(value: Unchecked<Record<PathKey | 'rid', string>>): Iterable<CrossProblem> {
  const given = PATH_KEYS.filter((key) => value[key] !== undefined);
  if (value.rid !== undefined && given.length > 0) {
    yield { path: ['rid'], message: `given together with ${given.join(', ')}, expected either the one or the others`, atKey: true };
  } else if (value.rid === undefined && given.length === 0) {
    yield { path: [], message: `names no telemetry station, expected rid or all of ${PATH_KEYS.join(', ')}` };
  } else if (value.rid === undefined) {
    for (const key of PATH_KEYS.filter((candidate) => !given.includes(candidate))) {
      yield { path: [key], message: `missing, expected together with ${given.join(', ')}` };
    }
  }
}

function* duplicateProducts(products: readonly unknown[]): Iterable<CrossProblem> {
  for (const [index, product] of products.entries()) {
    if (products.indexOf(product) < index) yield { path: ['products', index], message: 'found a product twice, expected each once' };
  }
}
