import { dirname, isAbsolute, join } from 'node:path';
import { TaskQueue } from '../station/task-queue.ts';
import { checkSteps, completed } from './checked-yaml.ts';
import type { Problem } from './problem.ts';
import { type Config, configSchema } from './schema.ts';
import type { Environment } from './yaml-content.ts';

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
}

export type LoadResult = LoadedConfig | { readonly ok: false; readonly problems: readonly Problem[] };

/** Returns the configuration, or all problems in the order of the file. */
export function loadConfig(source: ConfigSource): LoadResult {
  return completed(loadSteps(source));
}

/** As `loadConfig`, with pauses: a large file must not delay scrapes. */
export async function loadConfigInSteps(source: ConfigSource): Promise<LoadResult> {
  const steps = loadSteps(source);
  const tasks = new TaskQueue();
  for (;;) {
    const step = await tasks.run(() => steps.next());
    if (step.done === true) return step.value;
  }
}

function* loadSteps({ file, text, env }: ConfigSource): Generator<void, LoadResult> {
  const checked = yield* checkSteps(configSchema, { file, text, env });
  return checked.ok ? { ok: true, config: resolvePaths(file, checked.value), raw: checked.raw } : checked;
}

/** As in Prometheus, relative paths are relative to the directory of the configuration file. */
function resolvePaths(configFile: string, config: Config): Config {
  const directory = dirname(configFile);
  const resolve = (path: string) => (isAbsolute(path) ? path : join(directory, path));
  return { ...config, upstreams: withPaths(config.upstreams, '', resolve) as Config['upstreams'] };
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
