import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';

interface ConfigOptions {
  readonly servicePort: number;
  readonly stations: readonly string[];
  /** The default unless given. */
  readonly ttl?: string;
  /** Without it, stations are refreshed by scrapes. */
  readonly backgroundTtl?: string;
}

/** Runs the work with a configuration file for the program. */
export async function withConfigFile<T>(
  { servicePort, stations, ttl, backgroundTtl }: ConfigOptions,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const file = join(folder, 'config.yaml');
  const config = {
    upstreams: { main: { base_url: `http://127.0.0.1:${servicePort}` } },
    stations: stations.map((name) => ({ subscription: 's', resource_group: 'g', zone: 'z', telemetry_station: name })),
    ...(ttl !== undefined && { cache: { ttl } }),
    ...(backgroundTtl !== undefined && { cache: { ttl: backgroundTtl, refresh: 'background' } }),
  };
  try {
    await writeFile(file, stringify(config));
    return await work(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
