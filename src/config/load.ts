import { checkYaml } from './checked-yaml.ts';
import type { Environment } from './environment.ts';
import { filesBeside } from './file-paths.ts';
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
