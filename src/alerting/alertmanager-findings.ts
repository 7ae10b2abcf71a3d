import * as z from 'zod';
import { getOrCreate } from '../model/sums.ts';
import type { SentAlert } from './alerts.ts';
import { type ApiClient, printedYaml } from './api-client.ts';
import { type ChainFinding, finding } from './finding.ts';
import { type Labels, where } from './labels.ts';
import { alertmanagerConfig, type Destination, destinationsOf, type InhibitRule, inhibitedPairs } from './routing.ts';

export type AlertmanagerConfig = z.output<typeof alertmanagerConfig>;

const statusSchema = z.object({ config: z.object({ original: printedYaml(alertmanagerConfig) }) });

export async function readAlertmanager(client: ApiClient): Promise<AlertmanagerConfig> {
  return (await client.get('api/v2/status', statusSchema)).config.original;
}

/** Alerts of one name and severity that have the same destinations. */
export interface AlertRoute {
  /** Of the first one. */
  readonly labels: Labels;
  readonly destinations: readonly (Destination & { readonly hasIntegration: boolean })[];
  count: number;
}

export function alertRoutes({ route, receivers }: AlertmanagerConfig, alerts: readonly SentAlert[]) {
  const integrated = new Set(receivers.filter(({ hasIntegration }) => hasIntegration).map(({ name }) => name));
  const routes = new Map<string, AlertRoute>();
  for (const { labels } of alerts) {
    const destinations = destinationsOf(labels, route).map((destination) => ({
      ...destination,
      hasIntegration: integrated.has(destination.receiver),
    }));
    const key = JSON.stringify([labels['alertname'], labels['severity'], destinations]);
    getOrCreate(routes, key, () => ({ labels, destinations, count: 0 })).count += 1;
  }
  return [...routes.values()];
}

export function* receiverFindings(
  { receivers }: AlertmanagerConfig,
  routes: readonly AlertRoute[],
): Iterable<ChainFinding> {
  if (!receivers.some(({ hasIntegration }) => hasIntegration)) {
    yield finding.warning`No receiver has an integration: Alertmanager shows alerts, and notifies nobody.
      Add one to each receiver, such as webhook_configs; then run drill --send.`;
    return;
  }
  const lost = new Set<string>();
  const lostCritical = new Set<string>();
  const mutedCritical = new Set<string>();
  for (const { labels, destinations } of routes) {
    const isCritical = labels['severity'] === 'critical';
    const reached = destinations.filter(({ hasIntegration }) => hasIntegration);
    const text = `${labels['alertname']} ends at ${destinations.map(({ receiver }) => receiver).join(', ')}`;
    if (reached.length === 0) (isCritical ? lostCritical : lost).add(text);
    else if (isCritical && reached.every(({ mutedBy }) => mutedBy.length > 0)) mutedCritical.add(text);
  }
  if (lostCritical.size > 0)
    yield finding.failure`Critical alerts reach nobody, because the receiver has no integration: ${lostCritical}.
      Add an integration to it, or a route for severity = critical before, as in prometheus/alertmanager.yml.`;
  if (lost.size > 0)
    yield finding.warning`Alerts reach nobody, because the receiver has no integration: ${lost}.
      Add an integration to it, unless nobody needs them.`;
  if (mutedCritical.size > 0)
    yield finding.notChecked`Critical alerts are notified at certain times only: ${mutedCritical}.
      Check that the time intervals of these routes leave no gap.`;
}

/** `example`: the text of the shipped configuration, in which one of the labels can stand for `team`. */
export function* inhibitionFindings(
  { inhibit_rules }: AlertmanagerConfig,
  alerts: readonly SentAlert[],
  example: string,
  ownLabels: readonly string[],
): Iterable<ChainFinding> {
  const owners = ['team', ...ownLabels];
  const owner = owners.find((name) => inhibit_rules.some(({ equal }) => equal.includes(name))) ?? 'team';
  const shipped = printedYaml(alertmanagerConfig).parse(example.replace(/\bteam\b/g, owner));
  const compared = ofFirstStations(alerts.map(({ labels }) => labels));
  const inhibited = (rules: readonly InhibitRule[]) => rules.flatMap((rule) => inhibitedPairs(rule, compared));
  const loaded = new Set(inhibited(inhibit_rules).map((pair) => JSON.stringify(pair)));
  const missing = inhibited(shipped.inhibit_rules).filter((pair) => !loaded.has(JSON.stringify(pair)));
  if (missing.length > 0) {
    const texts = missing.map(([source, target]) => `${source['alertname']} does not inhibit ${target['alertname']}`);
    yield finding.warning`One cause is notified several times: ${texts}.
      ${COPY}`;
  }
  // Rules for alerts without an owner match nothing where all have one.
  const withoutOwner = compared.map((labels) => where(labels, (name) => !owners.includes(name)));
  const isIdle = (rule: InhibitRule) =>
    [...rule.source, ...rule.target].some(({ name }) => name === 'alertname') &&
    inhibitedPairs({ ...rule, equal: [] }, compared).length > 0 &&
    inhibitedPairs(rule, [...compared, ...withoutOwner]).length === 0;
  const idle = inhibit_rules.flatMap((rule, at) => (isIdle(rule) ? [`inhibit_rules[${at}]`] : []));
  if (idle.length > 0)
    yield finding.warning`Rules that never match, because the alerts that they name have no equal labels: ${idle}.
      ${COPY}`;
}

const COPY = 'Copy inhibit_rules from prometheus/alertmanager.yml: `equal` names labels that both alerts have.';

/** Enough of them: all pairs of alerts are compared. */
const MAX_STATIONS = 10;

function ofFirstStations(alerts: readonly Labels[]): readonly Labels[] {
  const names = [...new Set(alerts.flatMap(({ station }) => station ?? []))].slice(0, MAX_STATIONS);
  return alerts.filter(({ station }) => station === undefined || names.includes(station));
}
