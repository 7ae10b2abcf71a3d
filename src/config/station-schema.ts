import * as z from 'zod';
import { COLLECTED_FAMILIES } from '../collectors/collectors.ts';
import { PATH_KEYS, type StationPath } from '../model/listing.ts';
import { resourceKeys } from '../resources/station-keys.ts';
import { type CrossProblem, crossChecked, type Unchecked } from '../schema/cross-check.ts';
import { ALERTING_LABELS, labelName } from '../schema/label-name.ts';
import { optionalKey, textMatching } from '../schema/scalar-schemas.ts';
import { quoted } from '../text/quoted.ts';
import { stationCache, stationMetrics } from './overridable-settings.ts';

/** The words of a resource ID, each of which a name follows. */
const RID_WORDS = ['subscriptions', 'resourceGroups', 'zones', 'telemetryStations'] as const;

const RID_FORM = '/subscriptions/<subscription>/resourceGroups/<group>/zones/<zone>/telemetryStations/<name>';

/** Neither `.` nor `..`, which would be resolved in the URL. */
const PART = '(?!\\.{1,2}(?:/|$))[^/]+';

const RID = new RegExp(`^${RID_WORDS.map((word) => `/${word}/(${PART})`).join('')}$`);

/** Returns the parts of a resource ID; undefined for any other text. */
export function parseRid(rid: string): StationPath | undefined {
  const [, ...parts] = RID.exec(rid) ?? [];
  if (parts.length === 0 || !rid.isWellFormed()) return undefined;
  return Object.fromEntries(PATH_KEYS.map((key, index) => [key, parts[index]])) as StationPath;
}

/** `.` and `..` would be resolved in the URL, and in a name with `/` by proxies that decode it. */
const PATH_PART = /^(?!$)(?!(?:.*\/)?\.{1,2}(?:\/|$))/s;

const pathPart = textMatching(
  z.string(),
  PATH_PART,
  (part) =>
    part.includes('/')
      ? `expected no part "." or ".." between the slashes of ${quoted(part)}: proxies resolve them`
      : 'expected a non-empty name other than "." and ".."',
  // A lone surrogate cannot be encoded.
  (part) => PATH_PART.test(part) && part.isWellFormed(),
);

/** What already uses a label: of the families with the labels of the station, the first one. */
const RESERVED_LABELS = new Map<string, string>([
  ...ALERTING_LABELS.map((label) => [label, 'Prometheus or the alert rules set or remove this label'] as const),
  ...COLLECTED_FAMILIES.filter(({ hasStationLabels }) => hasStationLabels)
    .flatMap(({ name, labels }) => labels.map((label) => [label, `${name} already has this label`] as const))
    .toReversed(),
]);

export const station = crossChecked(
  z.strictObject({
    name: optionalKey(
      pathPart,
      'Value of the `station` label, unique among all stations (default: the name of the telemetry station).',
    ),
    upstream: optionalKey(z.string(), 'Upstream to query (default: the only upstream).'),
    subscription: optionalKey(pathPart, 'Subscription of the telemetry station.'),
    resource_group: optionalKey(pathPart, 'Resource group of the telemetry station.'),
    zone: optionalKey(pathPart, 'Availability zone of the telemetry station.'),
    telemetry_station: optionalKey(pathPart, 'Name of the telemetry station.'),
    rid: optionalKey(
      textMatching(z.string(), RID, `expected ${RID_FORM}`, (rid) => parseRid(rid) !== undefined),
      `Resource ID, instead of the four keys above: \`${RID_FORM}\`.`,
    ),
    ...resourceKeys,
    cache: stationCache.prefault({}).describe('Overrides `ttl`, `max_stale` and `error_ttl` of the global `cache`.'),
    metrics: stationMetrics
      .prefault({})
      .describe('Overrides keys of the global `metrics`; `disabled` applies to the families of the station.'),
    labels: z
      .record(
        labelName(RESERVED_LABELS, (name) => `${RESERVED_LABELS.get(name)}`),
        z.string(),
      )
      .prefault({})
      .describe(
        'Labels of the station, such as its owner, on its health and listing metrics and on its firing resources; `resource_labels` take precedence.',
      ),
  }),
  pathProblems,
);

function* pathProblems(value: Unchecked<StationPath & { readonly rid: string }>): Iterable<CrossProblem> {
  const given = PATH_KEYS.filter((key) => value[key] !== undefined);
  if (value.rid !== undefined && given.length > 0) {
    yield {
      path: ['rid'],
      message: `given together with ${given.join(', ')}, expected either rid or those keys`,
      atKey: true,
    };
  } else if (value.rid === undefined && given.length === 0) {
    yield { path: [], message: `expected rid or all of ${PATH_KEYS.join(', ')}, got none of them` };
  } else if (value.rid === undefined) {
    for (const key of PATH_KEYS.filter((candidate) => !given.includes(candidate))) {
      yield { path: [key], message: `missing, expected together with ${given.join(', ')}` };
    }
  }
}
