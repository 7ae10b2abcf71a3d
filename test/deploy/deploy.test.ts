import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { parseFlags } from '../../src/cli/parse.ts';
import { loadConfig } from '../../src/config/load.ts';
import { webConfigSchema } from '../../src/config/web-schema.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const CHART = 'deploy/helm/telemetry-station-exporter';

const problemsOf = async (file: string, text: string) => {
  const loaded = await loadConfig({ file, text, env: { MONITOR_TOKEN: 'token' } });
  return loaded.ok ? [] : loaded.problems;
};

const argumentsOf = (text: string) =>
  [...text.matchAll(/(?<=[\s["])--[\w.-]+(?:=[\w./:-]+)?/g)].map(([argument]) => argument);

describe('Dockerfile', () => {
  it('runs the exporter and its health check without a shell', () => {
    const commands = read('Dockerfile').match(/(?:ENTRYPOINT|CMD) (?=\S).*$/gm) ?? [];
    expect(commands).toHaveLength(3);
    for (const command of commands) expect(JSON.parse(command.replace(/^\w+ /, ''))).toEqual(expect.any(Array));
  });

  it('runs as a non-root user and needs no BuildKit frontend', () => {
    expect(read('Dockerfile')).toMatch(/^USER 65532:65532$/m);
    expect(read('Dockerfile')).not.toMatch(/^#\s*syntax=/m);
  });

  it('copies only files that .dockerignore allows', () => {
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files = '']) =>
      files.split(' '),
    );
    const allowed = [...read('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, file = '']) => file);
    expect(copied.filter((file) => !allowed.some((path) => file === path || file.startsWith(`${path}/`)))).toEqual([]);
  });
});

describe('deploy/kubernetes', () => {
  it('has a valid configuration', async () => {
    expect(await problemsOf('config.yaml', read('deploy/kubernetes/config.yaml'))).toEqual([]);
  });

  it('runs the package version with valid flags', () => {
    expect(parse(read('deploy/kubernetes/kustomization.yaml')).images[0].newTag).toBe(packageJson.version);
    expect(
      parseFlags(parse(read('deploy/kubernetes/deployment.yaml')).spec.template.spec.containers[0].args),
    ).toMatchObject({ ok: true });
  });
});

describe('the network policy of deploy/kubernetes', () => {
  it('admits no pod of a namespace that it does not name', () => {
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
      expect(await problemsOf(file, stringify(values.config))).toEqual([]);
    },
  );

  it.each(valuesFiles.filter(({ values }) => values.web?.config !== undefined))(
    'has a valid web configuration in ci/$file',
    ({ values }) => {
      expect(webConfigSchema.safeParse(values.web.config)).toMatchObject({ success: true });
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

  it('has the same keys in values.yaml and values.schema.json', () => {
    const { properties } = JSON.parse(read(`${CHART}/values.schema.json`));
    const { global: _, ...own } = properties;
    expect(Object.keys(own).toSorted()).toEqual(Object.keys(parse(read(`${CHART}/values.yaml`))).toSorted());
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
    readonly services: Readonly<Record<string, { readonly volumes?: readonly string[] }>>;
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
    const configs = `${read('prometheus/prometheus.yml')}${read('grafana/provisioning/datasources/telemetry-station.yaml')}`;
    const hosts = [...configs.matchAll(/([\w-]+):(?:9842|9090|9093)/g)].map(([, host = '']) => host);
    expect(new Set(hosts)).toEqual(new Set(Object.keys(services).filter((name) => name !== 'grafana')));
  });
});
