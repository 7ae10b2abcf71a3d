import {
  HEALTH_FAMILIES,
  RESOURCE_FAMILIES,
  SNAPSHOT_FAMILIES,
  STATION_FAMILIES,
} from '../../src/metrics/catalogue.ts';
import type { FamilyDescription } from '../../src/metrics/family.ts';
import { OWN_FAMILIES } from '../../src/metrics/own-families.ts';
import { DOWN_REASONS } from '../../src/model/failure.ts';
import { INCOMPLETE_REASONS, LISTING_FIELDS } from '../../src/model/listing.ts';

/** The text of docs/metrics.md, generated from the catalogue. */
export function metricsReference(): string {
  return `# Metrics

Generated from the catalogue in \`src/metrics\` by \`npm run generate\`.

All families of a station come from the same snapshot, so they add up: the sums of \`telemetry_station_resources\` and of
\`telemetry_station_listing_resources\` over a station equal its number of resources and of its \`telemetry_station_resource_info\` series, unless these are withheld.
A value that the service did not report, or that could not be parsed, has no sample; it is never 0. A missing text is an empty label
value. Timestamps are published instead of ages: use \`time() - …\`.

## Station health

Published while the station is configured.

${table(HEALTH_FAMILIES)}

These families, and those of the listing below, also have the configured \`labels\` of the station: alerts can be routed by owner and grouped by \`upstream\` without a join. While \`telemetry_station_up\` is 0,
\`telemetry_station_failure\` is 1 for exactly one [reason](runbooks/TelemetryStationDown.md#resolution): ${list(DOWN_REASONS)}.

${examples(HEALTH_FAMILIES)}

## Station data

\`state\` is the state as the service sends it, \`alert_state\` what it means: \`firing\`, \`pending\`, \`inactive\` or \`unknown\`; see \`states\` in the
[configuration](configuration.md#the-file). A state has one meaning, so the label adds no series; only \`(other)\`, which stands for several states, can have several.

Published until the data expires ([\`max_stale\`](operating.md#staleness)). Counters start at 0 with the process and compare
complete listings ([how](data.md#fields-of-a-change)): a failed or incomplete listing never counts as a removal.

${table(SNAPSHOT_FAMILIES)}

Three families are held as last known, so that queries need not remember anything. They start anew with the process, and with a reload that changes the station:

- \`telemetry_station_verified_resources\` while main listings do not add up; it has no sample before the first one that does.
- \`telemetry_station_verified_sku_quantity\` while listings are incomplete. A GPU model or unit that is gone stays at 0, so that a drop can be compared.
- \`telemetry_station_resource_firing\` for a resource that fired, until a listing shows it pending or inactive, or a complete listing does not have it. It is published also without \`metrics.per_resource\`, but not for a
  station with more than \`metrics.max_firing_resources\` firing resources.

Quantities are in base units: sizes (KB, KiB … PB, PiB) are converted to \`unit="bytes"\`; all other units are as the service sends them.

The fields of \`telemetry_station_listing_invalid_fields\`: ${list(LISTING_FIELDS)}.

The [reasons](troubleshooting.md#the-listing-is-incomplete) of \`telemetry_station_listing_incomplete\`, all 0 when the listing is complete: ${list(INCOMPLETE_REASONS)}.

${examples(SNAPSHOT_FAMILIES)}

## Resources

Published with \`metrics.per_resource\`, for stations with at most \`metrics.max_resources\` resources.

${table(RESOURCE_FAMILIES)}

The label \`alertable\` is \`true\`, \`false\`, or empty if unknown.

${examples(RESOURCE_FAMILIES)}

## Labels of resources

With \`resource_labels\` (see [configuration](configuration.md#the-file)), these families also have the configured labels, empty where no entry
matches; on \`telemetry_station_resource_firing\` they replace labels of the station with the same name: ${list(
    Object.values(STATION_FAMILIES)
      .filter(({ hasResourceLabels }) => hasResourceLabels)
      .map(({ name }) => name),
  )}.

Each aggregate has a series per combination of values that resources have. Sums need no change. A query that takes the maximum over replicas must sum up each instance first, as the shipped rules do:
\`max by (job, station) (sum by (job, instance, station) (telemetry_station_resources))\`. Counters and the other per-resource families do not have these labels; join
them with \`telemetry_station_resource_info\`.

## Exporter

Published on \`/metrics\` and \`/-/metrics\`, not on \`/probe\`, together with prom-client's process and Node.js metrics, which are up to a second old.

${table(OWN_FAMILIES)}

Throttled requests lower \`telemetry_station_exporter_api_rate_limit\`, which is never above \`requests_per_second\`.

${examples(OWN_FAMILIES)}
`;
}

function table(families: Readonly<Record<string, FamilyDescription>>): string {
  const rows = Object.values(families).map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`,
  );
  return ['| family | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** One example per family, in the order of the table. */
function examples(families: Readonly<Record<string, FamilyDescription>>): string {
  const rows = Object.values(families).map(
    ({ exampleTitle, example }) => `| ${exampleTitle} | \`${example.replaceAll('|', '\\|')}\` |`,
  );
  return ['| example | query |', '|---|---|', ...rows].join('\n');
}

function list(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}
