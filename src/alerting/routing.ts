import * as z from 'zod';
import type { Labels } from './labels.ts';
import { type Matcher, matcherOf, parsedMatchers } from './matchers.ts';

const pairs = z.record(z.string(), z.coerce.string()).default({});
const equalities = pairs.transform((map) => Object.entries(map).map(([name, value]) => matcherOf(name, '=', value)));
const patterns = pairs.transform((map) => Object.entries(map).map(([name, value]) => matcherOf(name, '=~', value)));
const matcherList = z.string().transform((text, { addIssue }) => {
  const matchers = parsedMatchers(text);
  if (matchers === undefined) addIssue('expected matchers');
  return matchers ?? [];
});
const matchers = z
  .array(matcherList)
  .default([])
  .transform((lists) => lists.flat());
const texts = z.array(z.coerce.string());

const routeSchema = z.object({
  receiver: z.string().optional(),
  group_by: texts.optional(),
  repeat_interval: z.string().optional(),
  mute_time_intervals: texts.default([]),
  active_time_intervals: texts.default([]),
  continue: z.boolean().default(false),
  match: equalities,
  match_re: patterns,
  matchers,
  get routes() {
    return z.array(routeSchema).default([]);
  },
});

const inhibitRuleSchema = z
  .object({
    source_match: equalities,
    source_match_re: patterns,
    source_matchers: matchers,
    target_match: equalities,
    target_match_re: patterns,
    target_matchers: matchers,
    equal: texts.default([]),
  })
  .transform(({ equal, ...rule }) => ({
    source: [...rule.source_match, ...rule.source_match_re, ...rule.source_matchers],
    target: [...rule.target_match, ...rule.target_match_re, ...rule.target_matchers],
    equal,
  }));

const receiverSchema = z.looseObject({ name: z.string() }).transform(({ name, ...settings }) => {
  const lists = Object.entries(settings).filter(([key]) => key.endsWith('_configs'));
  return { name, hasIntegration: lists.some(([, list]) => Array.isArray(list) && list.length > 0) };
});

/** The parts of the configuration of Alertmanager that decide where an alert goes. */
export const alertmanagerConfig = z.object({
  route: routeSchema,
  inhibit_rules: z.array(inhibitRuleSchema).default([]),
  receivers: z.array(receiverSchema).default([]),
});

/** Where an alert goes, with what its route inherits. */
export interface Destination {
  readonly receiver: string;
  /** `...`: all labels. */
  readonly groupBy: readonly string[];
  readonly repeat: string;
  /** Names of time intervals. */
  readonly mutedBy: readonly string[];
}

const DEFAULTS: Destination = { receiver: '', groupBy: [], repeat: '4h', mutedBy: [] };

/** Those of the first matching route of each level, and of the ones after it while `continue` is set. */
export function destinationsOf(
  labels: Labels,
  route: z.output<typeof routeSchema>,
  inherited = DEFAULTS,
): readonly Destination[] {
  if (!areMet([...route.match, ...route.match_re, ...route.matchers], labels)) return [];
  const own: Destination = {
    receiver: route.receiver ?? inherited.receiver,
    groupBy: route.group_by ?? inherited.groupBy,
    repeat: route.repeat_interval ?? inherited.repeat,
    mutedBy: [...route.mute_time_intervals, ...route.active_time_intervals.map((name) => `all but ${name}`)],
  };
  const found: Destination[] = [];
  for (const child of route.routes) {
    const matched = destinationsOf(labels, child, own);
    found.push(...matched);
    if (matched.length > 0 && !child.continue) break;
  }
  return found.length > 0 ? found : [own];
}

export type InhibitRule = z.output<typeof inhibitRuleSchema>;

/** Which alerts the rule lets suppress which others. */
export function inhibitedPairs(rule: InhibitRule, alerts: readonly Labels[]) {
  const sides = alerts.map((labels) => ({
    labels,
    isSource: areMet(rule.source, labels),
    isTarget: areMet(rule.target, labels),
  }));
  const sources = sides.filter(({ isSource }) => isSource);
  const targets = sides.filter(({ isTarget }) => isTarget);
  return sources.flatMap((source) =>
    targets
      // What is both source and target is suppressed by nothing that is both.
      .filter((target) => !(source.isTarget && target.isSource))
      .filter((target) => rule.equal.every((name) => (source.labels[name] ?? '') === (target.labels[name] ?? '')))
      .map((target) => [source.labels, target.labels] as const),
  );
}

function areMet(conditions: readonly Matcher[], labels: Labels): boolean {
  return conditions.every(({ isMet }) => isMet(labels));
}
