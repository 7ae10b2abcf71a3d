import * as z from 'zod';
import { AnchoredRegExp } from '../text/anchored-regexp.ts';
import type { Labels } from './labels.ts';

type Condition = (labels: Labels) => boolean;

const pairs = z.record(z.string(), z.coerce.string()).default({});
const equalities = pairs.transform((map) => Object.entries(map).map(([name, value]) => condition(name, '=', value)));
const patterns = pairs.transform((map) => Object.entries(map).map(([name, value]) => condition(name, '=~', value)));
const matchers = z
  .array(z.string())
  .default([])
  .transform((list, { issues }) => list.flatMap((text) => parsedMatchers(text, () => issues.push(invalid(text)))));
const texts = z.array(z.coerce.string());

const invalid = (input: string) => ({ code: 'custom', message: 'expected matchers', input }) as const;

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

const inhibitRuleSchema = z.object({
  source_match: equalities,
  source_match_re: patterns,
  source_matchers: matchers,
  target_match: equalities,
  target_match_re: patterns,
  target_matchers: matchers,
  equal: texts.default([]),
});

/** The parts of the configuration of Alertmanager that decide where an alert goes. */
export const alertmanagerConfig = z.object({
  route: routeSchema,
  inhibit_rules: z.array(inhibitRuleSchema).default([]),
  receivers: z.array(z.looseObject({ name: z.string() })).default([]),
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

type InhibitRule = z.output<typeof inhibitRuleSchema>;

/** Whether an alert can suppress others by the rule, and be suppressed. */
export function sidesOf(rule: InhibitRule, labels: Labels) {
  return {
    isSource: areMet([...rule.source_match, ...rule.source_match_re, ...rule.source_matchers], labels),
    isTarget: areMet([...rule.target_match, ...rule.target_match_re, ...rule.target_matchers], labels),
  };
}

/** Which alerts the rule lets suppress which others. */
export function inhibitedPairs(rule: InhibitRule, alerts: readonly Labels[]) {
  const sides = alerts.map((labels) => ({ labels, ...sidesOf(rule, labels) }));
  const targets = sides.filter(({ isTarget }) => isTarget);
  const sources = sides.filter(({ isSource }) => isSource);
  return sources.flatMap((source) =>
    targets
      // What is both source and target is suppressed by nothing that is both.
      .filter((target) => !(source.isTarget && target.isSource))
      .filter((target) => rule.equal.every((name) => (source.labels[name] ?? '') === (target.labels[name] ?? '')))
      .map((target) => [source.labels, target.labels] as const),
  );
}

function areMet(conditions: readonly Condition[], labels: Labels): boolean {
  return conditions.every((isMet) => isMet(labels));
}

function condition(name: string, operator: string, value: string): Condition {
  const expression = operator.endsWith('~') ? new AnchoredRegExp(value) : undefined;
  const isNegated = operator.startsWith('!');
  return ({ [name]: text = '' }) => (expression ? expression.matches(text) : text === value) !== isNegated;
}

/** Name, operator and value, each quoted or not, up to a comma or the end. */
const MATCHER = /\s*("(?:[^"\\]|\\.)*"|[^\s"=!~,{}]+)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|[^",]*?)\s*(?:,\s*|$)/gsy;

function parsedMatchers(text: string, fail: () => void): readonly Condition[] {
  const inner = text.trim().replace(/^\{|\}$/g, '');
  const found = [...inner.matchAll(MATCHER)];
  if (found.map(([all]) => all).join('') !== inner) fail();
  return found.map(([, name = '', operator = '', value = '']) => condition(unquoted(name), operator, unquoted(value)));
}

/** Other escapes than these are the backslash and the character, as in regular expressions. */
function unquoted(text: string): string {
  return text
    .replace(/^"(.*)"$/s, '$1')
    .replace(/\\([n"\\])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}
