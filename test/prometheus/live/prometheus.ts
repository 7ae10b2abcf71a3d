import { join } from 'node:path';
import { startDaemon } from '../../daemon.ts';

export type RunningPrometheus = Awaited<ReturnType<typeof startPrometheus>>;

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

interface PrometheusOptions {
  /** Referenced by the configuration. */
  readonly files?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** Folder with blocks; default: an empty one. */
  readonly data?: string;
  /** Default: a free port. */
  readonly address?: string;
}

/** The Prometheus on the PATH. */
export async function startPrometheus(
  config: string,
  { files = {}, flags = [], data, address }: PrometheusOptions = {},
) {
  const { url, stop } = await startDaemon({
    command: 'prometheus',
    debianPackage: 'prometheus',
    files: { 'prometheus.yml': config, ...files },
    address,
    flags: (folder, listenAddress) => [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${data ?? join(folder, 'data')}`,
      `--web.listen-address=${listenAddress}`,
      '--log.level=warn',
      ...flags,
    ],
  });
  /** Data of a response of the HTTP API under /api/v1; throws if the query failed. */
  const api = async <Data>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<Data> => {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, data, error } = (await response.json()) as { status: string; data: Data; error?: string };
    if (status !== 'success') throw new Error(`${error}: ${JSON.stringify(parameters)}`);
    return data;
  };
  /** Result of an instant query, keyed by the values of the given labels. */
  const query = async (expression: string, ...labels: string[]): Promise<Record<string, number>> => {
    const { result } = await api<{ result: readonly Series[] }>('query', { query: expression });
    return Object.fromEntries(
      result.map(({ metric, value }) => [labels.map((label) => metric[label] ?? '').join('|'), Number(value[1])]),
    );
  };
  return { url, stop, api, query };
}

/** Scrapes an exporter every two seconds, once per job with the options of the job. */
export function startScraping(exporterUrl: string, jobs: Readonly<Record<string, object>>) {
  const targets = [new URL(exporterUrl).host];
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s' },
    scrape_configs: Object.entries(jobs).map(([job_name, options]) => ({
      job_name,
      static_configs: [{ targets }],
      ...options,
    })),
  };
  return startPrometheus(JSON.stringify(config));
}
