import {
  alertRoutes,
  inhibitionFindings,
  readAlertmanager,
  receiverFindings,
} from '../alerting/alertmanager-findings.ts';
import { sentAlerts } from '../alerting/alerts.ts';
import { type ApiClient, openApi, problemOf } from '../alerting/api-client.ts';
import { type ChainFinding, finding } from '../alerting/finding.ts';
import type { Labels } from '../alerting/labels.ts';
import { readPrometheus } from '../alerting/prometheus.ts';
import { prometheusFindings } from '../alerting/prometheus-findings.ts';
import { comparedRules, isAlert, isOurs, shippedFile, shippedRules } from '../alerting/rules.ts';
import type { FlagValues } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import { FAMILY_DESCRIPTIONS } from '../collectors/collectors.ts';
import { checkYaml } from '../config/checked-yaml.ts';
import { contentOf } from '../config/file-content.ts';
import type { LoadedConfig } from '../config/load.ts';
import { formatProblem, formatProblems, unreadable } from '../config/problem.ts';
import { resolveStations } from '../config/resolve.ts';
import { httpClientConfig } from '../service/http-client-schema.ts';
import { httpClientOptions } from '../service/upstream-options.ts';
import type { ProcessContext } from './process-context.ts';

/** What Prometheus and Alertmanager say about the way of alerts, and the alerts as Alertmanager gets them. */
export async function readChain(context: ProcessContext, flags: FlagValues, { config }: LoadedConfig) {
  const findings: ChainFinding[] = [];
  const stations = resolveStations(config);
  const stationLabels = stations.flatMap(({ labels }) => Object.keys(labels));
  const owners = config.resource_labels.map(({ labels = {} }): Labels => labels);
  const ownLabels = [...stationLabels, ...owners.flatMap((labels) => Object.keys(labels))];

  const prometheus = await withApi(context, flags, 'prometheus', readPrometheus);
  const rules = comparedRules(await shippedRules(context.packageFolder), prometheus?.rules ?? []);
  if (prometheus)
    findings.push(...prometheusFindings(prometheus, { stations, rules, families: FAMILY_DESCRIPTIONS, ownLabels }));

  const series = prometheus?.stations?.map(({ metric }) => metric) ?? [];
  const configured = stations.map(({ name, upstream, labels }) => ({ ...labels, station: name, upstream, ...TARGET }));
  const loaded = prometheus?.rules?.filter((rule) => isAlert(rule) && isOurs(rule.name)) ?? [];
  const alerts = sentAlerts(loaded.length > 0 ? loaded : rules.shipped.filter(isAlert), {
    stations: series.length > 0 ? series : configured,
    stationLabels,
    owners,
    clusterLabel: rules.clusterLabel,
    config: prometheus?.config,
  });

  const routing = await withApi(context, flags, 'alertmanager', readAlertmanager).catch((error) => {
    findings.push(
      finding.failure`Alertmanager cannot be read: ${problemOf(error)}.
        Check the URL, which may need a path, and the credentials in --alertmanager.config.file.`,
    );
  });
  if (!routing) return { findings, alerts, routes: [] };
  const routes = alertRoutes(routing, alerts);
  const example = await shippedFile(context.packageFolder, 'alertmanager.yml');
  findings.push(...receiverFindings(routing, routes), ...inhibitionFindings(routing, alerts, example, ownLabels));
  return { findings, alerts, routing, routes };
}

/** The labels of the example in prometheus/prometheus.yml. */
const TARGET = { job: 'telemetry-station-exporter', instance: 'telemetry-station-exporter:9842' };

/** Rejects with a RequestFailure; undefined: its flag is not set. */
export async function withApi<Result>(
  { build, env }: Pick<ProcessContext, 'build' | 'env'>,
  flags: FlagValues,
  name: 'prometheus' | 'alertmanager',
  work: (client: ApiClient) => Promise<Result>,
): Promise<Result | undefined> {
  const url = flags[`${name}.url`];
  if (url === undefined) return undefined;
  const settings = await clientSettings(flags[`${name}.config.file`]);
  const userAgent = `telemetry-station-exporter/${build.version}`;
  const client = openApi(url, httpClientOptions(url, settings, userAgent, env));
  try {
    return await work(client);
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
