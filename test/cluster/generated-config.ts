import { execFileSync } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import { parse, stringify } from 'yaml';

interface ServiceObject {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Labels };
  readonly spec: { readonly selector?: Labels };
}

interface ScrapeConfig {
  readonly job_name: string;
  readonly metrics_path?: string;
  readonly body_size_limit?: string;
  readonly kubernetes_sd_configs?: readonly { readonly role: string }[];
}

type Labels = Readonly<Record<string, string>>;

/** What the operator has generated for the Prometheus object `main` in the namespace of the current context; undefined before it has. */
export function generatedConfig(): { text: string; scrapeConfigs: readonly ScrapeConfig[] } | undefined {
  const [secret] = list<{ data?: Labels }>('secret', '--field-selector=metadata.name=prometheus-main');
  const compressed = secret?.data?.['prometheus.yaml.gz'];
  if (compressed === undefined) return undefined;
  const text = gunzipSync(Buffer.from(compressed, 'base64')).toString();
  const { scrape_configs: scrapeConfigs = [] } = parse(text) as { scrape_configs?: readonly ScrapeConfig[] };
  return { text, scrapeConfigs };
}

/** The rules that it has generated, by file. */
export function generatedRules(): Labels {
  const [configMap] = list<{ data: Labels }>('configmap', '--field-selector=metadata.name=prometheus-main-rulefiles-0');
  return configMap?.data ?? {};
}

/** The same where no pods run: targets of Kubernetes become static ones at the address, with the labels that Prometheus would discover. */
export function withoutPods(text: string, address: string, ruleFiles: readonly string[]): string {
  const {
    scrape_configs,
    alerting: _,
    ...config
  } = parse(text) as { scrape_configs: ScrapeConfig[]; alerting: object };
  const targets = list<ServiceObject>('service')
    .filter(({ spec }) => spec.selector !== undefined)
    .map((service) => ({ targets: [address], labels: discoveredLabels(service) }));
  const all = {
    ...config,
    rule_files: ruleFiles,
    scrape_configs: scrape_configs.map(({ kubernetes_sd_configs, ...scrapeConfig }) =>
      kubernetes_sd_configs === undefined ? scrapeConfig : { ...scrapeConfig, static_configs: targets },
    ),
  };
  return stringify(all)
    .replaceAll('$(SHARD)', '0')
    .replaceAll(/[\w-]+\.monitoring\.svc:9842/g, address);
}

/** Of the first pod of a Service, as endpoint and as pod. */
function discoveredLabels({ metadata: { name, namespace, labels }, spec: { selector = {} } }: ServiceObject): Labels {
  const pod = `${name}-0`;
  const meta = {
    namespace,
    service_name: name,
    ...endpointLabels('endpoint', pod),
    ...endpointLabels('endpointslice', pod),
    pod_name: pod,
    pod_ready: 'true',
    pod_phase: 'Running',
    pod_container_name: 'exporter',
    pod_container_port_name: 'metrics',
    pod_container_port_number: '9842',
    ...objectLabels('service', labels),
    ...objectLabels('pod', selector),
  };
  return Object.fromEntries(Object.entries(meta).map(([key, value]) => [`__meta_kubernetes_${key}`, value]));
}

function endpointLabels(kind: string, pod: string): Labels {
  return {
    [`${kind}_port_name`]: 'metrics',
    [`${kind}_address_target_kind`]: 'Pod',
    [`${kind}_address_target_name`]: pod,
  };
}

function objectLabels(kind: string, labels: Labels): Labels {
  const entries = Object.entries(labels).flatMap(([name, value]) => {
    const label = name.replaceAll(/\W/g, '_');
    return [
      [`${kind}_label_${label}`, value],
      [`${kind}_labelpresent_${label}`, 'true'],
    ];
  });
  return Object.fromEntries(entries);
}

function list<Item>(...args: readonly string[]): readonly Item[] {
  const { items } = JSON.parse(execFileSync('kubectl', ['get', ...args, '--output=json'], { encoding: 'utf8' }));
  return items;
}
