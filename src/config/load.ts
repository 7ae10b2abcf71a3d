import { dirname, isAbsolute, join } from 'node:path';
import { isObject } from '../model/resource.ts';
import { type CheckedYaml, checkSteps, completed, completedWithPauses } from './checked-yaml.ts';
import { type ConfigPath, formatProblem, type Problem, quoted } from './problem.ts';
import { type Config, configSchema, nameOf, stationFileSchema } from './schema.ts';
import { isPattern, readStationFiles, type StationFile } from './station-files.ts';
import { upstreamWarnings } from './upstream-warnings.ts';
import type { Environment } from './yaml-document.ts';

export interface ConfigSource {
  /** Shown in problems; relative paths are resolved against its directory. */
  readonly file: string;
  readonly text: string;
  readonly env: Environment;
}

export interface LoadedConfig {
  readonly ok: true;
  readonly config: Config;
  /** The parsed YAML, for comparing two loads. It contains the secrets: never show it. */
  readonly raw: unknown;
  /** In the form of problems. */
  readonly warnings: readonly string[];
  /** Secrets in clear text, and upstreams without credentials, in the form of problems. */
  readonly securityWarnings: readonly string[];
}

export type LoadResult = LoadedConfig | { readonly ok: false; readonly problems: readonly Problem[] };

/** Returns the configuration, or all problems in the order of the file. Reads no other files, and does not warn of the upstreams. */
export function loadConfig(source: ConfigSource): LoadResult {
  return completed(joinSteps(source, completed(checkSteps(configSchema, source)), []));
}

/** As `loadConfig`, with the station files and the warnings of the upstreams, and with pauses: large files must not delay scrapes. */
export async function loadConfigInSteps(source: ConfigSource): Promise<LoadResult> {
  const main = await completedWithPauses(checkSteps(configSchema, source));
  const files = await readStationFiles(stationFilePatterns(source.file, main.raw));
  const loaded = await completedWithPauses(joinSteps(source, main, files));
  if (!loaded.ok || !main.ok) return loaded;
  const { failing, insecure } = await upstreamWarnings(loaded.config.upstreams, main);
  const warnings = [...failing.map(formatProblem), ...loaded.warnings];
  return { ...loaded, warnings, securityWarnings: insecure.map(formatProblem) };
}

/** The paths and patterns of `station_files`, also of a file that is otherwise invalid. */
export function stationFilePatterns(configFile: string, raw: unknown): readonly string[] {
  const { station_files } = isObject(raw) ? raw : {};
  const resolve = pathResolver(configFile);
  return Array.isArray(station_files)
    ? station_files.filter((path) => typeof path === 'string' && path !== '').map(resolve)
    : [];
}

/** The paths of the files with secrets and certificates, also of a file that is otherwise invalid. */
export function secretFiles(configFile: string, raw: unknown): readonly string[] {
  const { upstreams } = isObject(raw) ? raw : {};
  const files: string[] = [];
  const resolve = pathResolver(configFile);
  withPaths(upstreams, '', (path) => {
    files.push(resolve(path));
    return path;
  });
  return files;
}

type Main = CheckedYaml<Config>;

/** Adds the stations of the station files. */
function* joinSteps(
  { file, env }: ConfigSource,
  main: Main,
  files: readonly StationFile[],
): Generator<void, LoadResult> {
  const problems = main.ok ? [] : [...main.problems];
  const { raw, problemAt } = main;
  if (problemAt === undefined) return { ok: false, problems };
  const schema = stationFileSchema(isObject(raw) ? raw : {});
  const names = new StationNames();
  const { stations: listed } = isObject(raw) ? raw : {};
  names.add(listed, (path, message) => problemAt(['stations', ...path], message));
  const stations: Config['stations'] = [];
  for (const { pattern, file: path, content } of files) {
    if ('error' in content) {
      problems.push(problemAt(['station_files', pattern], `${path} cannot be read: ${content.error.message}`));
      continue;
    }
    const checked = yield* checkSteps(schema, { file: path, text: content.text, env });
    if (checked.ok) stations.push(...checked.value);
    else problems.push(...checked.problems);
    if (checked.problemAt) problems.push(...names.add(checked.raw, checked.problemAt));
  }
  if (!main.ok || problems.length > 0) return { ok: false, problems };
  const config = resolvePaths(file, main.value);
  const matched = new Set(files.map(({ pattern }) => pattern));
  const unmatched = [...config.station_files.entries()].filter(
    ([index, path]) => isPattern(path) && !matched.has(index),
  );
  const warnings = unmatched.map(([index]) => formatProblem(problemAt(['station_files', index], 'no file matches')));
  return {
    ok: true,
    config: { ...config, stations: [...config.stations, ...stations] },
    raw,
    warnings,
    securityWarnings: [],
  };
}

type ProblemAt = NonNullable<Main['problemAt']>;

/** Finds stations of the same name in different files; the schema finds those in one file. */
class StationNames {
  readonly #owners = new Map<string, { readonly path: ConfigPath; readonly problemAt: ProblemAt }>();

  add(stations: unknown, problemAt: ProblemAt): readonly Problem[] {
    const problems: Problem[] = [];
    for (const [index, station] of Array.isArray(stations) ? stations.entries() : []) {
      const { key, name } = nameOf(isObject(station) ? station : {});
      if (name === undefined) continue;
      const path = [index, key];
      const owner = this.#owners.get(name);
      if (owner === undefined) this.#owners.set(name, { path, problemAt });
      else if (owner.problemAt !== problemAt) {
        const { file, line, column } = owner.problemAt(owner.path, '');
        problems.push(
          problemAt(path, `duplicate station name ${quoted(name)}, already used at ${file}:${line}:${column}`),
        );
      }
    }
    return problems;
  }
}

/** As in Prometheus, relative paths are relative to the directory of the configuration file. */
function resolvePaths(configFile: string, config: Config): Config {
  return { ...config, upstreams: withPaths(config.upstreams, '', pathResolver(configFile)) as Config['upstreams'] };
}

function pathResolver(configFile: string): (path: string) => string {
  const directory = dirname(configFile);
  return (path) => (isAbsolute(path) ? path : join(directory, path));
}

/** In an upstream, paths are the values of the keys `*_file` and `files`. */
function withPaths(value: unknown, key: string, resolve: (path: string) => string): unknown {
  if (typeof value === 'string') return key === 'files' || key.endsWith('_file') ? resolve(value) : value;
  if (Array.isArray(value)) return value.map((item) => withPaths(item, key, resolve));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withPaths(inner, name, resolve)]));
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
