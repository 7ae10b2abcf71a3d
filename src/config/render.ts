import { stringify } from 'yaml';
import * as z from 'zod';
import { resolveStations } from './resolve.ts';
import { type Config, configSchema } from './schema.ts';

/** The configuration in force as YAML: every default in its place, every secret hidden. */
export function renderConfig(config: Config): string {
  const names = resolveStations(config).map(({ name, upstream }) => ({ name, upstream }));
  const stations = config.stations.map((station, index) => ({ ...names[index], ...station }));
  return stringify(z.encode(configSchema, { ...config, stations }), { aliasDuplicateObjects: false, lineWidth: 0 });
}
