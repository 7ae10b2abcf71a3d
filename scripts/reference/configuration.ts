import { keySchema } from '../../src/config/key-schema.ts';
import { LINK_PLACEHOLDERS } from '../../src/config/link-schema.ts';
import { configSchema } from '../../src/config/schema.ts';
import { isObject } from '../../src/model/values.ts';
import { proseLines } from './prose-lines.ts';

/** The part of JSON Schema that the configuration uses. */
export interface JsonSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | false;
}

export function configJsonSchema(): JsonSchema {
  return keySchema(configSchema) as JsonSchema;
}

const SCHEMA_ID =
  'https://raw.githubusercontent.com/telemetry-station-exporter/telemetry-station-exporter/main/config.schema.json';

/** Generates config.schema.json, which describes the file before variables are substituted. */
export function publishedSchema(): object {
  const { $schema, ...schema } = withVariables(configJsonSchema()) as Record<string, unknown>;
  return { $schema, $id: SCHEMA_ID, title: 'Configuration of telemetry-station-exporter', ...schema };
}

/** Lets a variable stand for one of several values. */
function withVariables(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withVariables);
  if (!isObject(schema)) return schema;
  const { type, enum: values, ...rest } = schema;
  if (type !== 'string' || !Array.isArray(values)) {
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withVariables(value)]));
  }
  return {
    ...rest,
    anyOf: [
      { type, enum: values },
      { type, pattern: '\\$\\{' },
    ],
  };
}

/** Generates docs/configuration.md. */
export function configurationReference(): string {
  return [
    '# Configuration',
    '',
    '<!-- Generated from src/config/schema.ts by `npm run generate`; do not edit. -->',
    '',
    'The configuration is one YAML file (`--config.file`). [config.example.yaml](../config.example.yaml) shows all keys.',
    'Unknown keys are errors. All problems are reported at once, as `file:line:column: path: message`.',
    '',
    ...sections('', configJsonSchema()),
    ...FORMATS,
    '',
  ].join('\n');
}

/** What applies to more than one key. */
const FORMATS = [
  '## Formats',
  '',
  '- A **duration** has the format of Prometheus: `250ms`, `90s`, `1h30m`, `15d`, or `0`. A **size** is a number with `B`,',
  '  `KB`, `MB`, `GB` (powers of 1000), `KiB`, `MiB` or `GiB` (powers of 1024).',
  `- \`\${NAME}\` in a string is replaced with the environment variable; an unset variable is an error. \`$\${\` is a literal`,
  `  \`\${\`. Quote it inside \`{ }\` and \`[ ]\`.`,
  '- A **secret** is always shown as `<secret>`. It can be read from a **file** instead, each time it is used. Relative',
  '  paths start at the directory of the configuration file.',
  '- Anchors, aliases and merge keys (`<<`) are supported.',
  '',
  'Editors complete and check keys and types with [config.schema.json](../config.schema.json) when its first line is',
  '`# yaml-language-server: $schema=config.schema.json`. `check` also warns of secret and certificate files that cannot be',
  'read, of secrets in clear text, of upstreams without credentials, and of a telemetry station that is configured twice.',
  'Prometheus renames the labels `job` and `instance`, and alerts replace `alertname`, `severity` and `pod`: choose others.',
];

/** What the table of a mapping does not say, by its path. */
const NOTES: Readonly<Record<string, readonly string[]>> = {
  '': [
    '`station_files: [stations/*.yaml]` adds the stations of other files. Only the last part of a path can contain `*`,',
    'which does not match a leading dot. A path without `*`, and the directory of a pattern, must exist; a pattern that',
    'matches no file is a warning.',
  ],
  'resource_labels[]': [
    'For each label, and for `alertable`, the first matching entry that has it wins. The labels are on',
    '[metrics](metrics.md#labels-of-resources), pages, JSON and CSV, and [alerts](runbooks/README.md) can be routed by them.',
    'The page of a resource names the entry that exempts it; `list --alertable=no` lists exempt resources too. To exempt',
    'scratch machines except the gateway, and label storage with its team:',
    '',
    '```yaml',
    'resource_labels:',
    '  - { match: { name: scratch-gateway }, alertable: true }',
    '  - { match: { name: scratch-.* }, alertable: false }',
    '  - { match: { resource_type: resource_type\\.storage\\..* }, labels: { team: storage } }',
    '```',
  ],
  states: [
    'For example `states: { firing: [ALERTSTATE_ESCALATED, 3], inactive: [ALERTSTATE_RESOLVED] }`. Values are compared',
    'exactly as the service sends them; a number equals the text of its digits. States of unknown meaning are reported on the',
    'pages, in the log, by `check --live` and by an [alert](runbooks/TelemetryStationUnknownState.md).',
  ],
  'links[]': [
    ...proseLines(
      `These placeholders are replaced with percent-encoded values: ${placeholders(LINK_PLACEHOLDERS.station)}; in \`resource\` also ${placeholders(LINK_PLACEHOLDERS.resource.filter((name) => !LINK_PLACEHOLDERS.station.includes(name)))}. A value that the service does not report is empty. The scheme must be http or https, and the host must not contain placeholders. Write \`%7B\` and \`%7D\` for literal braces, and quote a template inside \`{ }\`.`,
    ),
  ],
};

function placeholders(names: readonly string[]): string {
  return names.map((name) => `\`{${name}}\``).join(', ');
}

/** One table per mapping, outermost first. */
function sections(path: string, schema: JsonSchema): readonly string[] {
  const properties = Object.entries(schema.properties ?? {});
  // What these keys mean is said where they are set for all stations.
  if (properties.every(([, { description }]) => description?.startsWith('Overrides'))) return [];
  const table = [
    `## ${path === '' ? 'The file' : `\`${path}\``}`,
    '',
    '| key | type | default | meaning |',
    '|---|---|---|---|',
    ...properties.map(([key, property]) => row(key, property, schema.required?.includes(key) === true)),
    '',
    ...noteOf(path),
  ];
  return [...table, ...properties.flatMap(([key, property]) => inner(path === '' ? key : `${path}.${key}`, property))];
}

function noteOf(path: string): readonly string[] {
  const note = NOTES[path];
  return note === undefined ? [] : [...note, ''];
}

function inner(path: string, schema: JsonSchema): readonly string[] {
  if (schema.properties !== undefined) return sections(path, schema);
  if (schema.items?.properties !== undefined) return sections(`${path}[]`, schema.items);
  if (schema.additionalProperties && schema.additionalProperties.properties !== undefined) {
    return sections(`${path}.<name>`, schema.additionalProperties);
  }
  return [];
}

function row(key: string, schema: JsonSchema, isRequired: boolean): string {
  const cells = [
    `\`${key}\``,
    typeText(schema),
    isRequired ? 'required' : defaultText(schema),
    schema.description ?? '',
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function typeText(schema: JsonSchema): string {
  const { title, type, items, additionalProperties, minimum, maximum } = schema;
  if (title !== undefined) return title;
  if (schema.enum !== undefined && schema.enum.length <= 8)
    return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.enum !== undefined) return 'string';
  if (items?.enum !== undefined && items.enum.length <= 8) return `list of: ${typeText(items)}`;
  if (items !== undefined) return `list of ${items.properties === undefined ? plural(typeText(items)) : 'mappings'}`;
  if (additionalProperties)
    return additionalProperties.properties === undefined
      ? `mapping of names to ${plural(typeText(additionalProperties))}`
      : 'mapping of names to mappings';
  if (type === 'object') return 'mapping';
  if (minimum !== undefined)
    return `${type}, ${maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`}`;
  return type ?? '';
}

function plural(type: string): string {
  return type.replaceAll(/string|number|secret|file/g, '$&s');
}

function defaultText({ default: value }: JsonSchema): string {
  return value === undefined || JSON.stringify(value) === '{}'
    ? ''
    : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
