import { parse } from 'yaml';
import { isObject } from '../../src/model/values.ts';
import { publishedSchema } from './configuration.ts';

/** The schema of the chart's values with that of the configuration: Helm loads no other file. */
export function chartSchema(schema: string): string {
  const values = JSON.parse(schema) as { readonly properties: object };
  const properties = { ...values.properties, config: chartConfigSchema() };
  return `${JSON.stringify({ ...values, properties }, null, 2)}\n`;
}

/** Without required keys: with a simulated service, or an existing Secret, the configuration is empty. */
function chartConfigSchema(): object {
  const { $schema, $id, required, anyOf, ...schema } = forHelm(publishedSchema()) as Record<string, unknown>;
  return schema;
}

/**
 * The schema without what only editors show, and without the expressions that Helm cannot compile: RE2 has no lookahead.
 * A mapping of `properties` may have keys of these names.
 */
function forHelm(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forHelm);
  if (!isObject(schema)) return schema;
  const { title, description, default: _, properties, ...rest } = schema;
  const kept = Object.entries(rest)
    .filter(([key, value]) => !(key === 'pattern' && /\(\?[=!]/.test(String(value))))
    .map(([key, value]) => [key, forHelm(value)] as const);
  if (!isObject(properties)) return Object.fromEntries(kept);
  const inner = Object.entries(properties).map(([key, value]) => [key, forHelm(value)] as const);
  return { ...Object.fromEntries(kept), properties: Object.fromEntries(inner) };
}

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
    '`my-values.yaml` has the configuration of the exporter:',
    '',
    '```yaml',
    EXAMPLE.trim(),
    '```',
    '',
    '`ci/` has values for a simulated service, authentication, TLS, client certificates, replicas, shards, one target per',
    'station, and OpenShift. `helm test` checks that the Service reaches a pod that is ready. For more, see',
    '[access](../../../docs/operating.md#access) and [replicas and shards](../../../docs/scaling.md#replicas).',
    '',
    '## Authentication and TLS',
    '',
    'The [web configuration](https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md) belongs in',
    '`web.config`, or in a Secret that `web.existingSecret` names. Set the credentials of Prometheus with',
    '`serviceMonitor.basicAuth` and `serviceMonitor.tlsConfig`, and mount certificates with `extraVolumes`. Probes need no',
    'credentials; where clients need a certificate, which kubelet does not have, they only open a connection.',
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
      authorization: { credentials_file: /run/secrets/monitor/token }
  stations:
    - { subscription: sub, resource_group: rg, zone: z1, telemetry_station: ts }
extraVolumes:
  - name: monitor
    secret: { secretName: monitor } # with the key token; a new token is used without a restart
extraVolumeMounts:
  - { name: monitor, mountPath: /run/secrets/monitor, readOnly: true }
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
    const commentOrKey = /^( *)(?:# (.*)|(\w+):)/.exec(line);
    if (!commentOrKey) continue;
    const [, indent = '', text, key = ''] = commentOrKey;
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

/** Empty for a value that is empty, and for the key of a group, whose values have rows of their own. */
function defaultCell(path: string, value: unknown): string {
  const groups = ['serviceMonitor', 'scrapeConfig', 'prometheusRule', 'dashboards'];
  const text = JSON.stringify(value);
  if (groups.includes(path) || ['{}', '[]', '""'].includes(text)) return '';
  if (path === 'prometheusRule.alerts') return 'see values.yaml';
  return `\`${text}\``;
}
