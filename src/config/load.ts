import { dirname, isAbsolute, join } from 'node:path';
import { PATH_KEYS } from '../model/listing.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { ConfigPath } from '../schema/config-path.ts';
import { listOf, mappingOf } from '../schema/cross-check.ts';
import { proxyUrl, TITLES } from '../schema/scalar-schemas.ts';
import { environmentProxy } from '../service/http/environment-proxy.ts';
import { listingPath } from '../service/station-source.ts';
import { quoted } from '../text/quoted.ts';
import { countText, durationText } from '../text/words.ts';
import { checkYaml } from './checked-yaml.ts';
import { keySchema, replacedTexts } from './key-schema.ts';
import { byPosition, formatProblem, formatProblems, type Problem } from './problem.ts';
import { resolveStations } from './resolve.ts';
import { type Config, configSchema, stationFileSchema, stationNameOf } from './schema.ts';
import { isPattern, readStationFiles } from './station-files.ts';
import { upstreamWarnings } from './upstream-warnings.ts';
import type { Environment, YamlDocument, YamlText } from './yaml-document.ts';

export interface LoadedConfig {
  readonly ok: true;
  readonly file: string;
  readonly config: Config;
  /** The parsed YAML with the stations of all files: what is set, without defaults. It contains the secrets: never show it. */
  readonly raw: unknown;
  readonly warnings: readonly string[];
  /** What `check` prints besides: secrets in clear text, upstreams without credentials, requests that proxies may spoil. */
  readonly securityWarnings: readonly string[];
}

export type LoadResult = LoadedConfig | { readonly ok: false; readonly problems: readonly Problem[] };

/** Returns the configuration with the stations of all files, or all problems in the order of the files. */
export async function loadConfig({ file, text, env }: Required<YamlText>): Promise<LoadResult> {
  const main = await checkYaml(configSchema, { file, text, env });
  const { document } = main;
  const root = mappingOf(document.raw);
  const problems = main.ok ? [] : [...main.problems];
  const entries = entriesOf(root['stations'], ['stations'], document);
  const stations: Config['stations'] = [];
  const files = await readStationFiles(stationFilePatterns(file, root));
  const schema = stationFileSchema(root);
  for (const { patterns, file: path, content } of files) {
    if (!content.ok) {
      const message = `${path} cannot be read: ${content.error.message}`;
      problems.push(document.problemAt(['station_files', Math.min(...patterns)], message));
      continue;
    }
    const checked = await checkYaml(schema, { file: path, text: content.text, env });
    if (checked.ok) stations.push(...checked.value);
    else problems.push(...checked.problems);
    entries.push(...entriesOf(checked.document.raw, [], checked.document));
  }
  problems.push(...duplicateNames(entries));
  if (main.ok) problems.push(...invalidProxies(main.value.upstreams, env, document));
  if (!main.ok || problems.length > 0)
    return { ok: false, problems: sortedProblems(problems, [file, ...files.map((other) => other.file)]) };
  const keys = keySchema(configSchema.shape.upstreams);
  const upstreams = replacedTexts(keys, main.value.upstreams, FILES, (path) => resolved(file, path));
  const config = { ...main.value, upstreams, stations: [...main.value.stations, ...stations] };
  const { failing, insecure } = await upstreamWarnings(upstreams, keys, document);
  const specs = resolveStations(config);
  const matched = new Set(files.flatMap(({ patterns }) => patterns));
  const unmatched = config.station_files.flatMap((path, index) =>
    isPattern(path) && !matched.has(index) ? [document.problemAt(['station_files', index], 'no file matches')] : [],
  );
  return {
    ok: true,
    file,
    config,
    raw: { ...root, stations: entries.map(({ value }) => value) },
    warnings: [
      ...failing.map(formatProblem),
      ...formatProblems([...unmatched, ...lowRates(config, specs, document), ...sameListings(config, specs, entries)]),
    ],
    securityWarnings: [...insecure.map(formatProblem), ...formatProblems([...proxyWarnings(config, specs, entries)])],
  };
}

/** The paths and patterns of `station_files`, also of a file that is otherwise invalid. */
export function stationFilePatterns(configFile: string, raw: unknown): readonly string[] {
  const { station_files } = mappingOf(raw);
  return listOf(station_files)
    .filter((path) => typeof path === 'string' && path !== '')
    .map((path) => resolved(configFile, `${path}`));
}

const FILES = [TITLES.secretFile, TITLES.pemFile];

/** As in Prometheus, relative paths are relative to the directory of the configuration file. */
function resolved(configFile: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(configFile), path);
}

interface Entry {
  readonly value: unknown;
  readonly path: ConfigPath;
  readonly document: YamlDocument;
}

function entriesOf(list: unknown, path: ConfigPath, document: YamlDocument): Entry[] {
  return listOf(list).map((value, index) => ({ value, path: [...path, index], document }));
}

function* duplicateNames(entries: readonly Entry[]): Iterable<Problem> {
  const owners = new Map<string, () => Problem>();
  for (const { value, path, document } of entries) {
    const { key, name } = stationNameOf(mappingOf(value));
    if (name === undefined) continue;
    const problem = (message: string) => document.problemAt([...path, key], message);
    const owner = owners.get(name)?.();
    if (owner === undefined) owners.set(name, () => problem(''));
    else
      yield problem(
        `duplicate station name ${quoted(name)}, already used at ${owner.file}:${owner.line}:${owner.column}, expected another ${key === 'name' ? 'one' : '`name`'}`,
      );
  }
}

function* invalidProxies(upstreams: Config['upstreams'], env: Environment, document: YamlDocument): Iterable<Problem> {
  for (const [name, { base_url, proxy_from_environment }] of Object.entries(upstreams)) {
    const proxy = proxy_from_environment ? environmentProxy(base_url, env) : undefined;
    const { error } = proxy ? proxyUrl.safeDecode(proxy.url) : {};
    if (proxy && error)
      yield document.problemAt(
        ['upstreams', name, 'proxy_from_environment'],
        `${proxy.variable}: ${error.issues[0]?.message}`,
      );
  }
}

function sortedProblems(problems: readonly Problem[], files: readonly string[]): readonly Problem[] {
  return problems.toSorted((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || byPosition(a, b));
}

/** Proxies accept about 8 KB of a request line by default. */
const MAX_PATH_BYTES = 8000;

/** Stations whose requests only some proxies pass on as they are. */
function* proxyWarnings(config: Config, specs: readonly ResourceSpec[], entries: readonly Entry[]): Iterable<Problem> {
  for (const [index, { upstream, path, filters }] of specs.entries()) {
    const { base_url, list_style } = config.upstreams[upstream] as Config['upstreams'][string];
    const { path: place, document } = entries[index] as Entry;
    const key = PATH_KEYS.find((name) => path[name].includes('/'));
    if (key !== undefined)
      yield document.problemAt(
        [...place, key],
        'has a "/", which is sent as %2F: proxies before the service must pass URIs on untouched, or another station may answer',
      );
    const { length } = listingPath(path, 'resources', filters, { baseUrl: base_url, listStyle: list_style });
    if (length > MAX_PATH_BYTES)
      yield document.problemAt(
        [...place, 'filters'],
        `make a request line of ${length} bytes, and many servers accept 8 KB: expected fewer values, or several stations that share them`,
      );
  }
}

/** Upstreams whose stations need more requests than `requests_per_second` allows, even if each listing were a single page. */
function* lowRates(config: Config, specs: readonly ResourceSpec[], document: YamlDocument): Iterable<Problem> {
  for (const [name, { requests_per_second: rate }] of Object.entries(config.upstreams)) {
    const own = specs.filter(({ upstream }) => upstream === name);
    const listings = own.flatMap(listingIntervalsMs);
    const neededPerSecond = listings.reduce((sum, intervalMs) => sum + 1000 / intervalMs, 0);
    if (rate === 0 || neededPerSecond <= rate) continue;
    const needed = `one page per listing of ${countText(own.length, 'station')} needs ${Number(neededPerSecond.toPrecision(2))} requests/s`;
    yield document.problemAt(
      ['upstreams', name, 'requests_per_second'],
      `${needed}, expected at least as much, or a higher ttl: it takes ${durationText((1000 * listings.length) / rate)} to read them all, and longer with more pages`,
    );
  }
}

/** How often each listing of a station is read; empty with a ttl of 0, when that depends on scrapes. */
function listingIntervalsMs({
  cache,
  products,
  productsTtlMs,
  alertability,
  alertabilityTtlMs,
}: ResourceSpec): number[] {
  const { ttlMs } = cache;
  if (ttlMs === 0) return [];
  const ofProducts = products.map(() => Math.max(ttlMs, productsTtlMs));
  return [ttlMs, ...ofProducts, ...(alertability ? [Math.max(ttlMs, alertabilityTtlMs)] : [])];
}

/** Stations whose resources are counted twice. */
function* sameListings(config: Config, specs: readonly ResourceSpec[], entries: readonly Entry[]): Iterable<Problem> {
  const owners = new Map<string, string>();
  for (const [index, { name, upstream, path, filters }] of specs.entries()) {
    const listing = JSON.stringify([config.upstreams[upstream]?.base_url, path, filters]);
    const owner = owners.get(listing);
    const { path: place, document } = entries[index] as Entry;
    if (owner === undefined) owners.set(listing, name);
    else
      yield document.problemAt(
        place,
        `same telemetry station and filters as station ${quoted(owner)}, expected different filters, because its resources are counted twice`,
      );
  }
}
