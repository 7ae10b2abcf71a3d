import { jsonSchema } from '../../src/config/checked-yaml.ts';
import { configSchema } from '../../src/config/schema.ts';
import { LINK_PLACEHOLDERS } from '../../src/inventory/links.ts';
import { isObject } from '../../src/model/resource.ts';

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
  return jsonSchema(configSchema) as JsonSchema;
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
    'The configuration is one YAML file (`--config.file`). [config.example.yaml](../config.example.yaml) shows all keys;',
    '[config.schema.json](../config.schema.json) enables completion and validation in editors when the first line is',
    '`# yaml-language-server: $schema=config.schema.json`. `--config.check` also finds what the schema does not describe, such as keys that exclude each other.',
    '',
    '- A **duration** has the format of Prometheus: `250ms`, `90s`, `1h30m`, `15d`, or `0`. A **size** is a number with `B`, `KB`, `MB`, `GB`',
    '  (powers of 1000), `KiB`, `MiB` or `GiB` (powers of 1024).',
    `- \`\${NAME}\` in a string is replaced with the environment variable; an unset variable is an error. \`$\${\` is a literal \`\${\`. Quote it`,
    '  inside `{ }` and `[ ]`.',
    '- A **secret** is always shown as `<secret>`. It can be read from a **file** instead, which is read again when it changes and',
    '  after a 401. Relative paths are relative to the directory of the configuration file.',
    '- `station_files` adds the stations of other files: `[stations/*.yaml]`. Only the last part of a path can contain `*`, which does not match a leading dot. Each file is a list of',
    '  stations and cannot use the anchors of another file. A path without `*`, and the directory of a pattern, must exist, so that a volume that is not mounted does not remove its',
    '  stations; a pattern without a match is a warning.',
    '- `check` and the log of `serve` warn of a secret or certificate file that is missing, empty or not readable; the exit code stays 0, because the',
    '  file may appear later. Both warn of a telemetry station that is configured twice without different filters, because its resources are then',
    '  counted twice. `check` also warns of secrets in clear text and of upstreams without credentials.',
    '- `resource_labels` labels resources, for example with the team that owns them. An entry matches a resource if each of its regular expressions (RE2 syntax, as in',
    '  Prometheus) matches the whole text; one without `match` matches all. For each label, the first matching entry determines the value. [Metrics](metrics.md#labels-of-resources),',
    '  pages, `list`, JSON and CSV have the labels, and [alerts](runbooks/README.md) can be routed by them. A reload relabels the current data.',
    '- `alertable: false` in an entry of `resource_labels` exempts its resources: they need no alert rules, and count as not alertable in metrics, pages, `list`, alerts and the coverage of',
    '  `check --live`. The first matching entry with the key `alertable` wins; `true` keeps a later entry from exempting a resource, and changes nothing else. The page of a resource names',
    '  the entry that exempts it, and `list --alertable=no` lists exempt resources too. Without `alertability`, all other resources count as resources that need alert rules. For example,',
    '  to exempt scratch machines except the gateway:',
    '',
    '  ```yaml',
    '  resource_labels:',
    '    - { match: { name: scratch-gateway }, alertable: true }',
    '    - { match: { name: scratch-.* }, alertable: false }',
    '    - { match: { resource_type: resource_type\\.storage\\..* }, labels: { team: storage } }',
    '  ```',
    '',
    '- `states` defines what the states of resources mean: `states: { firing: [ALERTSTATE_ESCALATED, 3], inactive: [ALERTSTATE_RESOLVED] }`. Values are compared exactly as the service',
    '  sends them; a number and the text of its digits are the same. Resources without a state cannot be listed, because a state that cannot be read looks the same. Metrics have the',
    '  meaning as the label `alert_state`. States of unknown meaning are reported on the pages, in the log once per hour and station, by `check --live` and by an',
    '  [alert](runbooks/TelemetryStationUnknownState.md). A reload applies to the current data: a counter continues with its count under the new meaning, and what was counted as',
    '  `(other)` stays.',
    '- `links` adds links to other tools to the pages. In `station`, these placeholders become percent-encoded values:',
    `  ${placeholders(LINK_PLACEHOLDERS.station)};`,
    `  in \`resource\` also ${placeholders(LINK_PLACEHOLDERS.resource.filter((name) => !LINK_PLACEHOLDERS.station.includes(name)))}.`,
    '  A value that the service does not report is empty. The scheme must be http or https, and the host must not contain placeholders. Write `%7B` and',
    '  `%7D` for literal braces, and quote a template inside `{ }`.',
    '- Anchors, aliases and merge keys (`<<`) are supported. Unknown keys are errors.',
    '- All problems are reported at once, as `file:line:column: path: message`; of a file that is no valid YAML, only why it is none. On startup the exit code is 1; on reload the active',
    '  configuration stays in use.',
    '',
    ...sections('', configJsonSchema()),
  ].join('\n');
}

function placeholders(names: readonly string[]): string {
  return names.map((name) => `\`{${name}}\``).join(', ');
}

/** One table per mapping, outermost first. */
function sections(path: string, schema: JsonSchema): readonly string[] {
  const properties = Object.entries(schema.properties ?? {});
  const table = [
    `## ${path === '' ? 'The file' : `\`${path}\``}`,
    '',
    '| key | type | default | meaning |',
    '|---|---|---|---|',
    ...properties.map(([key, property]) => row(key, property, schema.required?.includes(key) === true)),
    '',
  ];
  return [...table, ...properties.flatMap(([key, property]) => inner(path === '' ? key : `${path}.${key}`, property))];
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
  if (items !== undefined) return items.properties === undefined ? `list of: ${typeText(items)}` : 'list of mappings';
  if (additionalProperties)
    return additionalProperties.properties === undefined
      ? `mapping of names to: ${typeText(additionalProperties)}`
      : 'mapping of names to mappings';
  if (type === 'object') return 'mapping';
  if (minimum !== undefined)
    return `${type}, ${maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`}`;
  return type ?? '';
}

function defaultText({ default: value }: JsonSchema): string {
  return value === undefined || JSON.stringify(value) === '{}'
    ? ''
    : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
