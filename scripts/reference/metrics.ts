import type { FamilyDescription } from '../../src/exposition/family.ts';
import { HEALTH_FAMILIES } from '../../src/exposition/health-families.ts';
import { OWN_FAMILIES } from '../../src/exposition/own-families.ts';
import {
  FIRING_FAMILIES,
  RESOURCE_FAMILIES,
  SNAPSHOT_FAMILIES,
  STATION_FAMILIES,
} from '../../src/resources/families.ts';
import { LISTING_FIELDS } from '../../src/resources/fields.ts';
import { proseLines } from './prose-lines.ts';

const STATION_DATA = { ...SNAPSHOT_FAMILIES, ...FIRING_FAMILIES };

/** The text of docs/metrics.md, generated from the catalogue. */
export function metricsReference(): string {
  return `# Metrics

<!-- Generated from src/resources/families.ts by \`npm run generate\`; do not edit. -->

All families of a station come from the same snapshot, so they add up: the sums of \`telemetry_station_resources\` and
\`telemetry_station_listing_resources\` over a station equal its number of resources. A value that the service did not
report, or that could not be parsed, has no sample; it is never 0. A missing text is an empty label value. Timestamps
are published instead of ages: use \`time() - …\`.

A **stable** family keeps its name, type, labels and meaning in all patches of 0.1; a later minor version changes it only with
a \`[CHANGE]\` in the changelog. An **experimental** one is too new for that, or shows how the exporter works inside: any
release may change or remove it, and no shipped alert reads it.

## Station health

Published while the station is configured, with the labels \`station\` and \`upstream\`.

${table(HEALTH_FAMILIES, ['station', 'upstream'])}

These families, and those of the listing below, also have the \`labels\` that the configuration gives the station, so
that alerts can be routed by owner without a join. While \`telemetry_station_up\` is 0, \`telemetry_station_failure\` is 1
for exactly one [reason](runbooks/TelemetryStationDown.md#resolution).

${examples(HEALTH_FAMILIES)}

## Station data

Values as of the last successful refresh, with the label \`station\`, published until the data expires
([\`max_stale\`](operating.md#staleness)). Counters start at 0 with the process and compare
[comparable listings](data.md#fields-of-a-change): a failed or incomplete listing never counts as a removal.

\`state\` is the state as the service sends it; \`alert_state\` is its [meaning](configuration.md#states): \`firing\`,
\`pending\`, \`inactive\` or \`unknown\`. Sizes (KB, KiB … PB, PiB) are converted to \`unit="bytes"\`; other units are as
the service sends them.

${table(STATION_DATA, ['station'])}

Four families count the resources of a station:

| question | family |
|---|---|
| How many are there, by type, product, state and owner? | \`telemetry_station_resources\` |
| How many does the latest listing have, by meaning of the state? With the labels of the station, for alerts. | \`telemetry_station_listing_resources\` |
| Were resources lost? An incomplete listing does not change it. | \`telemetry_station_verified_resources\` |
| How many should there be, as the service says? | \`telemetry_station_listing_reported_resources\` |

Each resource is one of these:

| it is | when | family |
|---|---|---|
| covered | it has alert rules | \`telemetry_station_resources_with_alert_rules\` |
| not covered | it has none | \`telemetry_station_resources_without_alert_rules\` |
| exempt | it needs none: \`resource_labels\` say so or, with \`alertability\`, the service says that it cannot have alerts | none |
| unknown | the service does not report its alert rules or, with \`alertability\`, whether it can have alerts | \`telemetry_station_resources_with_unknown_alert_coverage\` |

All but the exempt ones are \`telemetry_station_coverable_resources\`: the share of the covered ones in it is the least that
is possible, and the coverage where none is [unknown](troubleshooting.md#coverage-or-states-are-unknown).

How long resources have not been covered counts from their creation. A resource that is not covered and older than
\`coverage.within\` is *overdue*. One without a usable \`create_time\` may be: it counts in
\`telemetry_station_uncovered_resources_with_unknown_age\` instead. A creation time in the future is that of a new
resource, whose clock differs. Numbers are as of the last successful refresh, also where only the time has changed.

These families are held as last known, so that queries need not remember anything. They start anew with the process, and
with a reload that changes [what the station lists](adr/0010-last-known-is-published.md):

- \`telemetry_station_last_known_resources\`: \`firing\` resources are those of \`telemetry_station_resource_firing\`, without
  its limit. \`all\` are at least as many as the service reports, while listings do not add up, or as the latest one that
  did. \`missing\` is what such a listing lacks; it has no sample while nothing says how many there are.
- \`telemetry_station_verified_resources\` while listings do not add up; it has no sample before the first one that does.
- \`telemetry_station_verified_sku_quantity\` while listings are not comparable, for at most \`max_stale\`. A GPU model or
  unit that is no longer listed stays at 0, so that the drop is visible.
- \`telemetry_station_resource_firing\` for a resource that fired, until a listing shows it pending or inactive, a
  comparable listing no longer has it, or \`max_stale\` after it was last listed. It does not depend on
  \`metrics.per_resource\`. A station that lists more than \`metrics.max_firing_resources\` as firing has none; beside fewer,
  those that were listed last are held up to this limit.

[Troubleshooting](troubleshooting.md#the-listing-is-incomplete) explains the reasons of
\`telemetry_station_listing_incomplete\`; all are 0 when the listing is complete.

${proseLines(`The fields of \`telemetry_station_listing_invalid_fields\`: ${list(LISTING_FIELDS)}.`).join('\n')}

${examples(STATION_DATA)}

## Resources

Published with \`metrics.per_resource\`, for stations with at most \`metrics.max_resources\` resources, with the labels
\`station\`, \`resource_id\` and \`name\`.

${table(RESOURCE_FAMILIES, ['station', 'resource_id', 'name'])}

The label \`alertable\` is \`true\`, \`false\` (it cannot have alerts, or is exempt), or empty if unknown.

${examples(RESOURCE_FAMILIES)}

## Labels of resources

With [\`resource_labels\`](configuration.md#resource_labels), these families also have the configured labels, empty where
no entry matches:

${listLines(
  Object.values(STATION_FAMILIES)
    .filter(({ hasRowLabels }) => hasRowLabels)
    .map(({ name }) => name),
)}

On \`telemetry_station_resource_firing\` they replace labels of the station with the same name. Counters and the other
per-resource families do not have them; join with \`telemetry_station_resource_info\`.

Each aggregate has a series per combination of values. Sums need no change; a query that takes the maximum over replicas
must sum up each instance first, as the shipped rules do:
\`max by (job, station) (sum by (job, instance, station) (telemetry_station_resources))\`.

## Exporter

Published on \`/metrics\` and \`/-/metrics\`, not on \`/probe\`, together with prom-client's process and Node.js metrics.

${table(OWN_FAMILIES)}

${examples(OWN_FAMILIES)}
`;
}

/** `common`: labels that all of these families have, which the text above the table names. */
function table(families: Readonly<Record<string, FamilyDescription>>, common: readonly string[] = []): string {
  const rows = Object.values(families).map(({ name, type, labels, help, isExperimental }) => {
    const further = labels.filter((label) => !common.includes(label));
    const stage = isExperimental ? 'experimental' : 'stable';
    return `| \`${name}\` | ${type} | ${stage} | ${further.join(', ')} | ${help} |`;
  });
  const labelsTitle = common.length > 0 ? 'further labels' : 'labels';
  return [`| family | type | stage | ${labelsTitle} | meaning |`, '|---|---|---|---|---|', ...rows].join('\n');
}

/** One example per family, in the order of the table. */
function examples(families: Readonly<Record<string, FamilyDescription>>): string {
  const lines = Object.values(families).map(({ exampleTitle, example }) => `- ${exampleTitle}: \`${example}\``);
  return ['Examples:', '', ...lines].join('\n');
}

function list(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function listLines(words: readonly string[]): string {
  return words.map((word) => `- \`${word}\``).join('\n');
}
