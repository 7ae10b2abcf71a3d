import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseFlags } from '../../src/cli/parse.ts';
import { loadConfig } from '../../src/config/load.ts';
import { webConfigSchema } from '../../src/config/web-schema.ts';
import { allPages, readPage, root } from '../docs/markdown.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const CHART = 'deploy/helm/telemetry-station-exporter';
const DATASOURCES = 'grafana/provisioning/datasources/telemetry-station.yaml';

const problemsOf = async (file: string, text: string) => {
  const loaded = await loadConfig({ file, text, env: { MONITOR_TOKEN: 'token' } });
  return loaded.ok ? [] : loaded.problems;
};

/** Station files exist only in a cluster: a station stands for them. */
const problemsOfValues = async (file: string, values: { readonly config: { readonly station_files?: unknown } }) => {
  const { station_files, ...config } = values.config;
  const stations = [{ subscription: 'sub', resource_group: 'rg', zone: 'z1', telemetry_station: 'ts' }];
  return await problemsOf(file, stringify({ stations, ...config }));
};

const argumentsOf = (text: string) =>
  [...text.matchAll(/(?<=[\s["])--[\w.-]+(?:=[\w./:-]+)?/g)].map(([argument]) => argument);

describe('deploy/kubernetes', () => {
  it('has a valid configuration', async () => {
    expect(await problemsOf('config.yaml', read('deploy/kubernetes/config.yaml'))).toEqual([]);
  });

  it('runs with valid flags', () => {
    expect(
      parseFlags(parse(read('deploy/kubernetes/deployment.yaml')).spec.template.spec.containers[0].args),
    ).toMatchObject({ ok: true });
  });

  it('has a network policy that admits no pod of a namespace that it does not name', () => {
    const { spec, metadata } = parse(read('deploy/kubernetes/network-policy.yaml'));
    expect(metadata).not.toHaveProperty('namespace');
    expect(spec.ingress.map(({ from }: { from: object[] }) => from)).toEqual([
      [
        { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
        // Without a namespaceSelector: the pods of its own namespace.
        { podSelector: {} },
      ],
    ]);
  });
});

describe('deploy/helm', () => {
  const valuesFiles = readdirSync(join(root, CHART, 'ci')).map((file) => ({
    file,
    values: parse(read(`${CHART}/ci/${file}`)),
  }));

  it.each(valuesFiles.filter(({ values }) => values.config !== undefined))(
    'has a valid configuration in ci/$file',
    async ({ file, values }) => {
      expect(await problemsOfValues(file, values)).toEqual([]);
    },
  );

  it.each(valuesFiles.filter(({ values }) => values.web?.config !== undefined))(
    'has a valid web configuration in ci/$file',
    ({ values }) => {
      expect(webConfigSchema.safeParse(values.web.config)).toMatchObject({ success: true });
    },
  );

  it.each(readPage(`${CHART}/README.md`).blocks.filter(({ language }) => language === 'yaml'))(
    'has valid values in README: $content',
    async ({ content }) => {
      const values = parse(content);
      expect(Object.keys(parse(read(`${CHART}/values.yaml`)))).toEqual(expect.arrayContaining(Object.keys(values)));
      expect(await problemsOfValues('README.md', values)).toEqual([]);
    },
  );

  it('passes valid flags', () => {
    const withValues = ['--total-shards', '--config.auto-reload-interval'];
    const flags = argumentsOf(read(`${CHART}/templates/_pod.tpl`)).filter(
      (flag) => !withValues.some((name) => flag.startsWith(name)),
    );
    expect(flags).toEqual([
      '--demo',
      '--config.file=/etc/telemetry-station-exporter/config.yaml',
      '--shard=auto',
      '--web.config.file=/etc/telemetry-station-exporter-web/web.yaml',
    ]);
    const { reloadInterval } = parse(read(`${CHART}/values.yaml`));
    expect(parseFlags([...flags, '--total-shards=3', `--config.auto-reload-interval=${reloadInterval}`])).toMatchObject(
      { ok: true },
    );
  });
});

describe('docs/operating.md', () => {
  it('has a valid web configuration', () => {
    const [example] = readPage('docs/operating.md').blocks.filter(({ language }) => language === 'yaml');
    const hash = '$2b$04$M63MX08KlfHVnljxzQSuL..ba6w08HmIjQTVsxgdKENw4lmRvUrc.';
    const parsed = webConfigSchema.safeParse(parse(example?.content.replace('$2y$10$...', hash) ?? ''));
    expect(parsed).toMatchObject({ success: true, data: { basic_auth_users: { prometheus: hash } } });
  });
});

describe('deploy/systemd', () => {
  it('starts with valid flags', () => {
    const [, command = ''] =
      /^ExecStart=\S+ \S+ (.*) \$FLAGS$/m.exec(read('deploy/systemd/telemetry-station-exporter.service')) ?? [];
    expect(argumentsOf(` ${command}`)).toHaveLength(1);
    expect(parseFlags(command.split(' '))).toMatchObject({ ok: true });
  });
});

describe('deploy/compose', () => {
  const { services } = parse(read('deploy/compose/compose.yaml')) as {
    readonly services: Readonly<
      Record<string, { readonly command?: readonly string[]; readonly volumes?: readonly string[] }>
    >;
  };

  it('mounts existing files', () => {
    const mounted = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    );
    const files = mounted.filter((source) => source.startsWith('.'));
    expect(files.length).toBeGreaterThan(4);
    expect(files.filter((file) => !existsSync(join(root, 'deploy/compose', file)))).toEqual([]);
  });

  it('names its services as Prometheus and Grafana expect', () => {
    const configs = `${read('prometheus/prometheus.yml')}${read(DATASOURCES)}`;
    const hosts = [...configs.matchAll(/([\w-]+):(?:9842|9090|9093)/g)].map(([, host = '']) => host);
    expect(new Set(hosts)).toEqual(new Set(Object.keys(services).filter((name) => name !== 'grafana')));
  });

  it('shows Grafana the scrape interval of Prometheus, and the dashboards where it loads them', () => {
    const [prometheus] = parse(read(DATASOURCES)).datasources;
    const { scrape_interval } = parse(read('prometheus/prometheus.yml')).global;
    expect(prometheus).toMatchObject({ isDefault: true, jsonData: { timeInterval: scrape_interval } });
    const [{ options }] = parse(read('grafana/provisioning/dashboards/telemetry-station.yaml')).providers;
    expect(services['grafana']?.volumes).toContain(`../../grafana/dashboards:${options.path}:ro`);
  });
});

describe('the examples of Prometheus, the Prometheus operator and the rules', () => {
  const SCRAPE_TIMEOUT_S = 10;
  const timeoutsOf = (text: string) =>
    [...text.matchAll(/\b(?:scrape_timeout|scrapeTimeout): *"?(\w+)/g)].map(([, timeout]) => timeout);

  const prometheusFiles = readdirSync(join(root, 'prometheus')).filter((file) => file.startsWith('prometheus'));
  const examples = [
    ...prometheusFiles.map((file) => ({ file, text: read(`prometheus/${file}`) })),
    ...allPages().flatMap(({ file, blocks }) =>
      blocks
        .filter(({ content }) => content.includes('scrape_configs'))
        .map(({ content }) => ({ file, text: content })),
    ),
    ...['serviceMonitor', 'scrapeConfig'].map((key) => ({
      file: key,
      text: stringify(parse(read(`${CHART}/values.yaml`))[key]),
    })),
  ];

  it('have the scrape timeout that the exporter assumes without the header', () => {
    expect(parseFlags([])).toMatchObject({ ok: true, flags: { 'scrape.timeout': 1000 * SCRAPE_TIMEOUT_S } });
    const timeouts = Object.fromEntries(examples.map(({ file, text }) => [file, timeoutsOf(text)]));
    const files = [
      'prometheus-http-sd.yml',
      'prometheus.yml',
      'README.md',
      'README.zh-CN.md',
      'docs/backends.md',
      'serviceMonitor',
      'scrapeConfig',
    ];
    expect(timeouts).toEqual(Object.fromEntries(files.map((file) => [file, [`${SCRAPE_TIMEOUT_S}s`]])));
  });
});
