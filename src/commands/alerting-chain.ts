import { parse } from 'yaml';
import {
  type AlertmanagerConfig,
  alertmanagerFindings,
  readAlertmanager,
  routeRows,
} from '../alerting/alertmanager-findings.ts';
import { sentAlerts } from '../alerting/alerts.ts';
import { ApiClient } from '../alerting/api-client.ts';
import { finding } from '../alerting/finding.ts';
import type { Labels } from '../alerting/labels.ts';
import { readPrometheus } from '../alerting/prometheus.ts';
import { prometheusFindings, readMetrics } from '../alerting/prometheus-findings.ts';
import { keptLabels } from '../alerting/relabeling.ts';
import { alertmanagerConfig } from '../alerting/routing.ts';
import { comparedRules, isOurs, shippedFile, shippedRules } from '../alerting/rules.ts';
import type { FlagValues } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import { FAMILY_DESCRIPTIONS } from '../collectors/collectors.ts';
import { checkYaml } from '../config/checked-yaml.ts';
import { contentOf } from '../config/file-content.ts';
import type { LoadedConfig } from '../config/load.ts';
import { formatProblem, formatProblems, unreadable } from '../config/problem.ts';
import { resolveStations } from '../config/resolve.ts';
import type { FamilyDescription } from '../exposition/family.ts';
import { RESOURCE_FAMILIES } from '../resources/families.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import { httpClientConfig } from '../service/http-client-schema.ts';
import { httpClientOptions } from '../service/upstream-options.ts';
import type { ProcessContext } from './process-context.ts';

/** What Prometheus and Alertmanager say about the way of alerts, and the alerts as Alertmanager gets them. */
export async function readChain(context: ProcessContext, flags: FlagValues, { config }: LoadedConfig) {
  const shipped = await shippedRules(context.packageFolder);
  const stations = resolveStations(config);
  const replies = await readApi(context, flags, 'prometheus', (client) => readPrometheus(client, readMetrics(shipped)));
  const status = await readApi(context, flags, 'alertmanager', readAlertmanager);
  const rules = replies?.rules.ok ? replies.rules.value : [];
  const prometheus = replies?.config.ok ? replies.config.value : undefined;
  const own = rules.filter(({ name, isAlert }) => isAlert && isOurs(name));
  const series = replies?.stations.ok ? replies.stations.value.map(({ labels }) => labels) : [];
  const configured = stations.map(({ name, upstream, labels }) => ({ ...labels, station: name, upstream, ...TARGET }));
  const owners = config.resource_labels.map(({ labels = {} }): Labels => labels);
  const alerts = sentAlerts(own.length > 0 ? own : shipped.filter(({ isAlert }) => isAlert), {
    stations: series.length > 0 ? series : configured,
    stationLabels: stations.flatMap(({ labels }) => Object.keys(labels)),
    owners,
    clusterLabel: comparedRules(shipped, rules).clusterLabel,
    externalLabels: prometheus?.global.external_labels ?? {},
    relabel: (labels) => keptLabels(prometheus?.alerting.alert_relabel_configs ?? [], labels),
  });
  const families = publishedFamilies(stations);
  const ownLabels = [...stations.map(({ labels }) => labels), ...owners].flatMap((labels) => Object.keys(labels));
  const findings = replies ? [...prometheusFindings(replies, { stations, shipped, families, ownLabels })] : [];
  if (status?.ok === false)
    findings.push(
      finding(
        'failure',
        `Alertmanager cannot be read: ${status.problem}.`,
        'Check the URL, which may need a path, and the credentials in --alertmanager.config.file.',
      ),
    );
  const routing = status?.ok ? status.value.config.original : undefined;
  if (routing)
    findings.push(
      ...alertmanagerFindings(
        routing,
        alerts,
        await examples(context.packageFolder, [...stations.map(({ labels }) => labels), ...owners]),
      ),
    );
  return { findings, alerts, routing, rows: routing ? routeRows(routing, alerts) : [] };
}

/** Those of the stations, or of the exporter itself. */
function publishedFamilies(stations: readonly ResourceSpec[]) {
  const perResource = new Set(Object.values<FamilyDescription>(RESOURCE_FAMILIES));
  const isPublished = (family: FamilyDescription) =>
    stations.some(
      ({ metrics }) => !metrics.disabled.has(family.name) && (metrics.perResource || !perResource.has(family)),
    );
  return FAMILY_DESCRIPTIONS.filter(isPublished);
}

/** The labels of the example in prometheus/prometheus.yml. */
const TARGET = { job: 'telemetry-station-exporter', instance: 'telemetry-station-exporter:9842' };

/** The shipped configuration of Alertmanager, with each configured label in place of `team`. */
async function examples(
  packageFolder: URL,
  owners: readonly Labels[],
): Promise<ReadonlyMap<string, AlertmanagerConfig>> {
  const text = await shippedFile(packageFolder, 'alertmanager.yml');
  const names = new Set(['team', ...owners.flatMap((labels) => Object.keys(labels))]);
  return new Map(
    Array.from(names, (label) => [label, alertmanagerConfig.parse(parse(text.replace(/\bteam\b/g, label)))]),
  );
}

/** Reads one of the two; undefined: its flag is not set. */
export async function readApi<Result>(
  { build, env }: Pick<ProcessContext, 'build' | 'env'>,
  flags: FlagValues,
  name: 'prometheus' | 'alertmanager',
  read: (client: ApiClient) => Promise<Result>,
): Promise<Result | undefined> {
  const url = flags[`${name}.url`];
  if (url === undefined) return undefined;
  const settings = await clientSettings(flags[`${name}.config.file`]);
  const client = new ApiClient(
    url,
    httpClientOptions(url, settings, `telemetry-station-exporter/${build.version}`, env),
  );
  try {
    return await read(client);
  } finally {
    await client.close();
  }
}

async function clientSettings(file: string | undefined) {
  const content = file === undefined ? { ok: true as const, text: '{}' } : await contentOf(file);
  if (!content.ok) throw new OperatorError([formatProblem(unreadable(`${file}`, content.error))]);
  const checked = await checkYaml(httpClientConfig, { file: `${file}`, text: content.text });
  if (!checked.ok) throw new OperatorError(formatProblems(checked.problems));
  return checked.value;
}
