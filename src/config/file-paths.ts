import { dirname, isAbsolute, join } from 'node:path';
import type { Config } from './schema.ts';

/** As in Prometheus, a relative path starts from the folder of the configuration file. */
export function filesBeside(configFile: string, config: Config): Config {
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
