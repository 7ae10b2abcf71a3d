import { dirname, isAbsolute, join } from 'node:path';
import { checkYaml } from './checked-yaml.ts';
import type { Environment } from './environment.ts';
import type { Problem } from './problem.ts';
import { type Config, configSchema } from './schema.ts';

export interface ConfigSource {
  /** The file's name: for messages, and as the place that relative paths start from. */
  readonly file: string;
  readonly text: string;
  readonly env: Environment;
}

export interface LoadedConfig {
  readonly ok: true;
  readonly config: Config;
  /** The file as plain data, for comparing one load with another; it holds the secrets, so it is never shown. */
  readonly raw: unknown;
}

export type LoadResult = LoadedConfig | { readonly ok: false; readonly problems: readonly Problem[] };

/** Tells every problem, in the order of the file. */
export function loadConfig({ file, text, env }: ConfigSource): LoadResult {
  const checked = checkYaml(configSchema, { file, text, env });
  return checked.ok ? { ok: true, config: filesBeside(file, checked.value), raw: checked.raw } : checked;
}

/** As in Prometheus, a relative path starts from the folder of the configuration file. */
function filesBeside(configFile: string, config: Config): Config {
  const folder = dirname(configFile);
  const beside = (path: string) => (isAbsolute(path) ? path : join(folder, path));
  return { ...config, upstreams: relocated(config.upstreams, '', beside) as Config['upstreams'] };
}

/** In an upstream, the keys that end in `_file` and the lists called `files` hold paths, and no others do. */
function relocated(value: unknown, key: string, beside: (path: string) => string): unknown {
  if (typeof value === 'string') return key === 'files' || key.endsWith('_file') ? beside(value) : value;
  if (Array.isArray(value)) return value.map((item) => relocated(item, key, beside));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, relocated(inner, name, beside)]));
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
