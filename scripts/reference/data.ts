import { RESOURCE_COLUMNS, type ResourceColumn } from '../../src/station/resource.ts';
import { STATION_COLUMNS, STATION_LISTING } from '../../src/web/station-columns.ts';

/** Generates docs/data.md. */
export function dataReference(): string {
  const columns: Readonly<Record<string, ResourceColumn>> = RESOURCE_COLUMNS;
  return [
    '# Stations and resources as JSON and CSV',
    '',
    '<!-- Generated from src/web/station-columns.ts and src/station/resource.ts by `npm run generate`; do not edit. -->',
    '',
    'Pages with data are available as data. The format is chosen by the query parameter `format`, otherwise by the `Accept` header:',
    '',
    '| request | formats | content |',
    '|---|---|---|',
    '| `/?format=json` | `json`, `csv` | all stations of this shard: a list of the fields below |',
    '| `/stations/NAME?format=json` | `json` | one station: the fields below and its details |',
    '| `/stations/NAME/resources` | `json`, `csv` | the resources of a station: a list of the fields below |',
    '',
    '- `/stations/NAME/resources` has the query parameters of the station page: `search`, `type`, `product`, `state`, `alertable`, `without_rules=yes`,',
    '  `sort` and `order`. It returns the resources that the page shows for them, in the same order, on all of its pages.',
    '- Names are stable; new ones may be added. Times are RFC 3339 in UTC. An unknown value is null in JSON and empty in CSV, never 0.',
    '- Without data the resources are unknown: the status is 503, not an empty list. An unknown station is 404, an invalid parameter 400.',
    '- CSV follows RFC 4180 with a header line. Control characters are escaped, and a text that a spreadsheet would evaluate begins with an apostrophe; JSON has the exact data.',
    '- Access rules and the limit of concurrent requests are those of the pages. A response is written as fast as the client reads it, within 60 s.',
    '',
    '## Fields of a station',
    '',
    '| field | meaning |',
    '|---|---|',
    ...Object.entries(STATION_COLUMNS).map(([name, { help }]) => `| \`${name}\` | ${help} |`),
    '',
    'The details of one station are `subscription`, `resource_group`, `zone`, `labels`, `products` and `alertability` as configured, and `listing`, null without',
    'data:',
    '',
    '| field | meaning |',
    '|---|---|',
    ...Object.entries(STATION_LISTING).map(([name, { help }]) => `| \`${name}\` | ${help} |`),
    '',
    '## Fields of a resource',
    '',
    '| field | field of the service’s record |',
    '|---|---|',
    ...Object.entries(columns).map(([name, { field }]) => `| \`${name}\` | ${field === undefined ? '' : `\`${field}\``} |`),
    '',
  ].join('\n');
}
