import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import ruleParameters from '../../prometheus/source/parameters.json' with { type: 'json' };
import { COMMAND_NAMES } from '../../src/cli/commands.ts';
import { FAULT_NAMES } from '../../src/cli/flag-type.ts';
import { FLAGS } from '../../src/cli/flags.ts';
import { FAMILY_DESCRIPTIONS } from '../../src/collectors/collectors.ts';
import { FAILURE_REASONS } from '../../src/model/failure.ts';
import { INCOMPLETE_REASONS } from '../../src/model/listing.ts';
import { LISTING_FIELDS, RESOURCE_COLUMNS, type ResourceColumn } from '../../src/resources/fields.ts';
import {
  DATA_FIELDS,
  OWNER_COLUMNS,
  REFRESH_COLUMNS,
  SEARCH_FIELDS,
  STATION_COLUMNS,
  STATION_LISTING,
} from '../../src/status/station-columns.ts';
import { STATION_STATES } from '../../src/status/station-status.ts';
import { knownMetrics, shippedGroups, unknownIn } from '../prometheus/promql/known-metrics.ts';
import { configKeys, isConfigPath, webConfigKeys } from './config-keys.ts';
import { type Page, root } from './markdown.ts';

/** Names of Prometheus, VictoriaMetrics, Kubernetes, Node.js and undici in the form of ours. */
const FOREIGN = [
  'NoTranslation',
  'RetryHandler',
  'bodySizeLimit',
  'body_size_limit',
  'dashboard_url',
  'encodeInto',
  'enforcedBodySizeLimit',
  'exporter_url',
  'http_sd_configs',
  'keep_firing_for',
  'max_scrape_size',
  'metric_relabel_configs',
  'prometheusRule',
  'refresh_interval',
  'rule_files',
  'runbook_url',
  'sample_limit',
  'scrape_duration_seconds',
  'scrape_interval',
  'scrape_timeout',
  'setImmediate',
  'subPath',
  'target_info',
];

/** The prefix of the exporter's own metrics, in regular expressions. */
const OWN_PREFIX = 'telemetry_station_exporter';

/** Files of operators, the output of a build, and what is attached to a release. */
const OUTSIDE_THE_REPOSITORY = ['config.yaml', 'dist/', 'dist/main.js', 'sbom.spdx.json'];

const NPM_COMMANDS = ['audit', 'ci', 'deprecate', 'install', 'login', 'ls', 'pack', 'publish'];

const FILE = /^(?!@)[\w.@-]+(?:\/[\w.@-]+)*(?:\/|\.(?:ts|md|ya?ml|json|js))$/;
const KEY = /^[a-z]+(?:_[a-z]+)*(?:(?:\[\])?\.[a-z_]+|\.<name>)*$/;
/** With a capital inside, so that it is no word of a sentence; `KiB` and the like are units. */
const IDENTIFIER = /^(?![KMGT]iB$)[A-Za-z]+[a-z][A-Z]\w*$/;
const FLAG = /(?<=^|\s)--(?:no-)?([\w.-]+)/g;

const metrics = knownMetrics();
const flags: readonly string[] = FLAGS.map(({ name }) => name);
const commands: readonly string[] = COMMAND_NAMES;
const alerts = shippedGroups().flatMap(({ rules }) => rules.map(({ alert }) => alert));
const folders = readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
const simpleNames = new Set([
  ...configKeys(),
  ...webConfigKeys(),
  ...FAMILY_DESCRIPTIONS.flatMap(({ labels }) => labels),
  ...FAILURE_REASONS,
  ...LISTING_FIELDS,
  ...INCOMPLETE_REASONS,
  ...Object.keys({ ...STATION_COLUMNS, ...STATION_LISTING, ...DATA_FIELDS }),
  ...Object.keys({ ...REFRESH_COLUMNS, ...RESOURCE_COLUMNS, ...OWNER_COLUMNS, ...SEARCH_FIELDS }),
  ...Object.keys(STATION_STATES).map((state) => state.replace('-', '_')),
  ...Object.values<ResourceColumn>(RESOURCE_COLUMNS).flatMap(({ path }) => path ?? []),
  ...FAULT_NAMES,
  'without_rules',
  ...FOREIGN,
]);

/** Every word of src, declared or used. */
const sourceWords = new Set(
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => readFileSync(join(root, 'src', path), 'utf8').match(/\w+/g) ?? []),
);

/** The names on a page, endpoints aside, that do not exist. */
export function unknownNames(page: Page): string[] {
  const shell = page.blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ content }) => content.split(/\n| && /));
  const queries = page.blocks.filter(({ language }) => language === 'promql').map(({ content }) => content);
  return [
    ...(page.text.match(/\bTelemetryStation[A-Z]\w+/g) ?? []).filter((name) => !alerts.includes(name)),
    ...(page.text.match(/\btelemetry_station_\w+/g) ?? []).filter((name) => name !== OWN_PREFIX && !isMetric(name)),
    ...queries.flatMap((query) => unknownIn(query, metrics)),
    ...page.spans.flatMap((span) => unknownInSpan(span, page)),
    ...[...shell, ...page.spans].flatMap(unknownScripts),
    ...shell
      .flatMap((line) => line.split(/(?:dist\/main\.js|telemetry-station-exporter) /).slice(1))
      .flatMap(unknownFlags),
  ];
}

/** The exporter's paths that a page names. */
export function endpointsOf({ spans }: Page): string[] {
  return spans.flatMap((span) => /^(?:POST )?(\/(?:[\w?=-]+(?:\/[\w-]+)*)?)$/.exec(span)?.[1] ?? []);
}

function unknownInSpan(span: string, page: Page): string[] {
  const [word = ''] = span.split(' ');
  if (span.includes('telemetry_station_')) return unknownInQuery(span);
  if (span.startsWith('--') || (commands.includes(word) && span !== word)) return unknownFlags(span);
  if (FILE.test(span) || folders.includes(span.split('/')[0] ?? '')) return isFile(span, page) ? [] : [span];
  const [, key = span] = /^([^\s:]+): \S+$/.exec(span) ?? [];
  if (KEY.test(key) && /[_.]/.test(key)) return isName(key) ? [] : [span];
  if (IDENTIFIER.test(span) && !page.file.startsWith('deploy/')) return isIdentifier(span) ? [] : [span];
  return [];
}

/** A name, a sample as it is published, or a query. */
function unknownInQuery(span: string): string[] {
  return /^\w+(?: \d+)?$/.test(span) ? [] : unknownIn(span, metrics).map((problem) => `${span}: ${problem}`);
}

function unknownFlags(text: string): string[] {
  const named = [...text.matchAll(FLAG)].map(([, name = '']) => name);
  return named.filter((name) => !flags.includes(name) && name !== 'name').map((name) => `--${name}`);
}

function unknownScripts(text: string): string[] {
  const named = [...text.matchAll(/\bnpm (?:run (?:--\w+ )*)?([\w:]+)/g)].map(([, script = '']) => script);
  return named
    .filter((script) => ![...Object.keys(packageJson.scripts), ...NPM_COMMANDS].includes(script))
    .map((script) => `npm run ${script}`);
}

function isFile(span: string, { folder }: Page): boolean {
  return (
    OUTSIDE_THE_REPOSITORY.includes(span) ||
    [root, join(root, folder), join(root, 'src')].some((from) => existsSync(join(from, span)))
  );
}

function isIdentifier(span: string): boolean {
  return alerts.includes(span) || FOREIGN.includes(span) || span in ruleParameters || sourceWords.has(span);
}

function isName(key: string): boolean {
  return simpleNames.has(key) || isConfigPath(key.replace('<name>', 'name')) || metrics.has(key);
}

/** A histogram has no series of its own name. */
function isMetric(name: string): boolean {
  return metrics.has(name) || FAMILY_DESCRIPTIONS.some((family) => family.name === name);
}
