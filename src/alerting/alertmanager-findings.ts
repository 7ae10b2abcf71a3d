import { parse } from 'yaml';
import * as z from 'zod';
import { getOrCreate } from '../model/sums.ts';
import { namesText } from '../text/words.ts';
import type { SentAlert } from './alerts.ts';
import type { ApiClient } from './api-client.ts';
import { type ChainFinding, finding } from './finding.ts';
import { type Labels, labelsText, where } from './labels.ts';
import { alertmanagerConfig, type Destination, destinationsOf, inhibitedPairs, sidesOf } from './routing.ts';

export type AlertmanagerConfig = z.output<typeof alertmanagerConfig>;

const statusSchema = z.object({
  versionInfo: z.object({ version: z.string() }),
  config: z.object({
    original: z
      .string()
      .transform((text): unknown => parse(text))
      .pipe(alertmanagerConfig),
  }),
});

export const readAlertmanager = (client: ApiClient) => client.get('api/v2/status', statusSchema);

/** Where alerts of one name and severity go that have the same destination. */
export interface RouteRow extends Omit<Destination, 'mutedBy'> {
  readonly alert: string;
  readonly severity: string;
  /** Of which stations and owners, if others go elsewhere. */
  readonly of: string;
}

/** `examples`: the configuration that is shipped, by the label that stands for `team`. */
export function* alertmanagerFindings(
  config: AlertmanagerConfig,
  alerts: readonly SentAlert[],
  examples: ReadonlyMap<string, AlertmanagerConfig>,
): Iterable<ChainFinding> {
  yield* receiverFindings(config, alerts);
  yield* inhibitionFindings(config, alerts, examples);
}

export function routeRows(config: AlertmanagerConfig, alerts: readonly SentAlert[]): readonly RouteRow[] {
  const byRule = new Map<
    string,
    Map<string, { readonly destinations: readonly Destination[]; readonly example: Labels; count: number }>
  >();
  for (const { labels } of alerts) {
    const destinations = destinationsOf(labels, config.route);
    const routes = getOrCreate(byRule, `${labels['alertname']}\n${labels['severity']}`, () => new Map());
    getOrCreate(routes, JSON.stringify(destinations), () => ({ destinations, example: labels, count: 0 })).count += 1;
  }
  return [...byRule.values()].flatMap((routes) =>
    [...routes.values()].flatMap(({ destinations, example, count }) =>
      destinations.map(({ mutedBy, receiver, ...rest }) => ({
        ...rest,
        alert: `${example['alertname']}`,
        severity: `${example['severity']}`,
        of: routes.size === 1 ? 'all' : `${count}, such as ${labelsText(example, COMMON)}`,
        receiver: [
          receiver,
          hasIntegration(config, receiver) ? '' : ' (no integration)',
          mutedBy.length === 0 ? '' : ` (muted: ${mutedBy.join(', ')})`,
        ].join(''),
      })),
    ),
  );
}

const COMMON = ['alertname', 'severity', 'job', 'instance', 'pod', 'cluster', 'upstream'];

function hasIntegration({ receivers }: AlertmanagerConfig, receiver: string): boolean {
  const settings = receivers.filter(({ name }) => name === receiver).flatMap((found) => Object.entries(found));
  return settings.some(([key, value]) => key.endsWith('_configs') && Array.isArray(value) && value.length > 0);
}

function* receiverFindings(config: AlertmanagerConfig, alerts: readonly SentAlert[]): Iterable<ChainFinding> {
  if (!config.receivers.some(({ name }) => hasIntegration(config, name))) {
    yield finding(
      'warning',
      'No receiver has an integration: Alertmanager shows alerts, and notifies nobody.',
      'Add one to each receiver, such as webhook_configs; then run drill --send.',
    );
    return;
  }
  const routed = alerts.map(({ labels }) => {
    const destinations = destinationsOf(labels, config.route);
    const reached = destinations.filter(({ receiver }) => hasIntegration(config, receiver));
    return {
      text: `${labels['alertname']} ends at ${destinations.map(({ receiver }) => receiver).join(', ')}`,
      isCritical: labels['severity'] === 'critical',
      isLost: reached.length === 0,
      isMuted: reached.length > 0 && reached.every(({ mutedBy }) => mutedBy.length > 0),
    };
  });
  const textsOf = (isMeant: (alert: (typeof routed)[number]) => boolean) => [
    ...new Set(routed.filter(isMeant).map(({ text }) => text)),
  ];
  const lost = textsOf(({ isCritical, isLost }) => isLost && isCritical);
  if (lost.length > 0)
    yield finding(
      'failure',
      `Critical alerts reach nobody, because the receiver has no integration: ${namesText(lost)}.`,
      'Add an integration to it, or a route for severity = critical before, as in prometheus/alertmanager.yml.',
    );
  const others = textsOf(({ isCritical, isLost }) => isLost && !isCritical);
  if (others.length > 0)
    yield finding(
      'warning',
      `Alerts reach nobody, because the receiver has no integration: ${namesText(others)}.`,
      'Add an integration to it, unless nobody needs them.',
    );
  const muted = textsOf(({ isCritical, isMuted }) => isMuted && isCritical);
  if (muted.length > 0)
    yield finding(
      'not checked',
      `Critical alerts are notified at certain times only: ${namesText(muted)}.`,
      'Check that the time intervals of these routes leave no gap.',
    );
}

function* inhibitionFindings(
  { inhibit_rules }: AlertmanagerConfig,
  all: readonly SentAlert[],
  examples: ReadonlyMap<string, AlertmanagerConfig>,
): Iterable<ChainFinding> {
  const alerts = all.slice(0, MAX_ALERTS).map(({ labels }) => labels);
  const inhibited = (rules: AlertmanagerConfig['inhibit_rules']) =>
    new Map(rules.flatMap((rule) => inhibitedPairs(rule, alerts)).map((pair) => [JSON.stringify(pair), pair]));
  const loaded = inhibited(inhibit_rules);
  const missing = Array.from(examples.values(), (example) => {
    const lacking = [...inhibited(example.inhibit_rules)].filter(([key]) => !loaded.has(key));
    return new Set(
      lacking.map(([, [source, target]]) => `${source['alertname']} does not inhibit ${target['alertname']}`),
    );
  });
  const [fewest = new Set()] = missing.toSorted((a, b) => a.size - b.size);
  if (fewest.size > 0)
    yield finding('warning', `One cause is notified several times: ${namesText([...fewest])}.`, COPY);
  // Rules for alerts without an owner match nothing where all have one.
  const withoutOwner = alerts.map((labels) => where(labels, (name) => !examples.has(name)));
  const idle = inhibit_rules.flatMap((rule, at) => {
    const isIdle = inhibitedPairs(rule, [...alerts, ...withoutOwner]).length === 0;
    return isIdle && alerts.some((labels) => isNamed(rule, labels)) ? [`inhibit_rules[${at}]`] : [];
  });
  if (idle.length > 0)
    yield finding(
      'warning',
      `Rules that never match, because the alerts that they name have no equal labels: ${namesText(idle)}.`,
      COPY,
    );
}

const COPY = 'Copy inhibit_rules from prometheus/alertmanager.yml: `equal` names labels that both alerts have.';

/** Enough for each alert of ten stations: all pairs are compared. */
const MAX_ALERTS = 200;

/** Whether the rule selects the alert by its name. */
function isNamed(rule: AlertmanagerConfig['inhibit_rules'][number], labels: Labels): boolean {
  const [own, other] = [labels, { ...labels, alertname: 'Other' }].map((one) => sidesOf(rule, one));
  return (own?.isSource && !other?.isSource) || (own?.isTarget && !other?.isTarget) || false;
}
