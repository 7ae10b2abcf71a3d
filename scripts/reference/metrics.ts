import type { FamilyDescription } from '../../src/metrics/family.ts';
import { HEALTH_FAMILIES } from '../../src/metrics/health-families.ts';
import { OWN_FAMILIES } from '../../src/metrics/own-families.ts';
import { RESOURCE_FAMILIES } from '../../src/metrics/resource-families.ts';
import { SNAPSHOT_FAMILIES } from '../../src/metrics/snapshot-families.ts';
import { FAILURE_REASONS } from '../../src/station/failure.ts';
import { READ_FIELDS } from '../../src/station/listing.ts';

/** docs/metrics.md, made from the catalogue. */
export function metricsReference(): string {
  return `# Metrics

Generated from the catalogue in \`src/metrics\` by \`npm run generate\`.

All families of a station come from one snapshot, so they add up: the sum of \`telemetry_station_resources\` over a station is its
number of resources and the number of its \`telemetry_station_resource_info\` series, unless these are withheld. A value that the
service did not give, or gave unusably, is no sample, never 0. An optional text is an empty label. Nothing carries an age: timestamps
are published instead, \`time() - …\` gives the age. Each section ends with one query for each of its families.

## How a station is doing

Published as long as the station is configured.

${table(HEALTH_FAMILIES)}

\`telemetry_station_info\` carries the station's configured \`labels\` as well. The reasons of \`telemetry_station_failure\`:
${list(FAILURE_REASONS)}; [what each means and what to do](troubleshooting.md#a-station-is-down).

${examples(HEALTH_FAMILIES)}

## What a station holds

Published while a snapshot is served: until \`max_stale\` after the last success. The counters start at 0 with the process; they move
between complete snapshots only, so a failed or incomplete listing never counts as a removal.

${table(SNAPSHOT_FAMILIES)}

The fields of \`telemetry_station_listing_invalid_fields\`: ${list(READ_FIELDS)}.

${examples(SNAPSHOT_FAMILIES)}

## Each resource

With \`metrics.per_resource\`, for stations of at most \`metrics.max_resources\` resources.

${table(RESOURCE_FAMILIES)}

${examples(RESOURCE_FAMILIES)}

## The exporter itself

On the telemetry path alone, not on \`/probe\`; together with the process and Node.js metrics of prom-client.

${table(Object.values(OWN_FAMILIES))}

${examples(Object.values(OWN_FAMILIES))}
`;
}

function table(families: readonly FamilyDescription[]): string {
  const rows = families.map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`);
  return ['| family | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** One for each family, in the order of the table before. */
function examples(families: readonly FamilyDescription[]): string {
  const rows = families.map(({ answers, example }) => `| ${answers} | \`${example.replaceAll('|', '\\|')}\` |`);
  return ['| to know | ask |', '|---|---|', ...rows].join('\n');
}

function list(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}
