import { parse } from 'yaml';

/** Generates the README of the Helm chart from its values.yaml. */
export function chartReference(values: string): string {
  const defaults = parse(values);
  return [
    '# telemetry-station-exporter',
    '',
    '<!-- Generated from values.yaml by `npm run generate`; do not edit. -->',
    '',
    'Installs the exporter, and optionally its ServiceMonitor or ScrapeConfig, its rules and its dashboards.',
    '',
    '```sh',
    'helm install stations deploy/helm/telemetry-station-exporter --values my-values.yaml',
    '```',
    '',
    'with the configuration in `my-values.yaml`:',
    '',
    '```yaml',
    EXAMPLE.trim(),
    '```',
    '',
    '`ci/` has values for a simulated service, authentication, TLS, client certificates, replicas, shards, one target per station, and OpenShift.',
    '`helm test` then checks that the Service reaches a pod that is ready.',
    '[docs/operating.md](../../../docs/operating.md) has more on access, [docs/scaling.md](../../../docs/scaling.md) on replicas and shards.',
    '',
    '## Authentication and TLS',
    '',
    'Put the [web configuration](https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md) into `web.config`, or into a Secret that',
    '`web.existingSecret` names. Probes need no credentials. With TLS, probes and scrapes use https; where clients need a certificate, probes only open a connection, because',
    'kubelet has none. Set the credentials of Prometheus with `serviceMonitor.basicAuth` and `serviceMonitor.tlsConfig`. Mount certificates with `extraVolumes`.',
    '',
    '## Values',
    '',
    '| key | default | meaning |',
    '|---|---|---|',
    ...rows(values).map(
      ({ path, comment }) => `| \`${path}\` | ${defaultCell(path, valueAt(defaults, path))} | ${comment} |`,
    ),
    '',
  ].join('\n');
}

const EXAMPLE = `
config:
  upstreams:
    main:
      base_url: https://monitor.example.com
      authorization: { credentials: "\${MONITOR_TOKEN}" }
  stations:
    - { subscription: sub, resource_group: rg, zone: z1, telemetry_station: ts }
envFrom:
  - secretRef: { name: monitor-token } # with the key MONITOR_TOKEN
serviceMonitor: { enabled: true }
prometheusRule: { enabled: true }
dashboards: { enabled: true }
`;

interface Row {
  readonly path: string;
  readonly comment: string;
}

/** Every key with a comment above it; keys below one level of nesting are part of their parent's value. */
function rows(values: string): Row[] {
  const found: Row[] = [];
  let comment = '';
  let parent = '';
  for (const line of values.split('\n')) {
    const [, indent = '', text, key = ''] = /^( *)(?:# (.*)|(\w+):)/.exec(line) ?? [];
    if (text !== undefined) comment = `${comment} ${text}`.trim();
    else {
      if (indent === '') parent = key;
      if (comment !== '' && indent.length <= 2)
        found.push({ path: indent === '' ? key : `${parent}.${key}`, comment: comment.replaceAll('|', '\\|') });
      comment = '';
    }
  }
  return found;
}

function valueAt(values: Record<string, unknown>, path: string): unknown {
  const [key = '', child] = path.split('.');
  const value = values[key];
  return child === undefined ? value : (value as Record<string, unknown>)[child];
}

/** Empty for the key of a group, whose values have rows of their own. */
function defaultCell(path: string, value: unknown): string {
  const groups = ['serviceMonitor', 'scrapeConfig', 'prometheusRule', 'dashboards'];
  if (groups.includes(path)) return '';
  if (path === 'prometheusRule.alerts') return 'see values.yaml';
  return `\`${JSON.stringify(value)}\``;
}
