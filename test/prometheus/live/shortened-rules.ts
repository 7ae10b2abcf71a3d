import { parse, stringify } from 'yaml';
import { rulesFile } from '../../../prometheus/source/rules-file.ts';

interface Rule {
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
}

const UNITS_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** The shipped rules in a time of its own: `for`, `keep_firing_for`, ranges and the thresholds in seconds. */
export function shortenedRules(minuteS: number): string {
  const seconds = (value: number) => (value * minuteS) / 60;
  const shortened = (duration: string) => {
    const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
    return `${1000 * seconds(Number(count) * (UNITS_S[unit] ?? Number.NaN))}ms`;
  };
  const { groups } = parse(rulesFile()) as { groups: { interval: string; rules: Rule[] }[] };
  const shortenedGroups = groups.map((group) => ({
    ...group,
    interval: shortened(group.interval),
    rules: group.rules.map((rule) => ({
      ...rule,
      expr: rule.expr
        .replace(/(?<=\[|offset )\d+[smhd]\b/g, shortened)
        .replace(/ > (480|120)\b/, (_, threshold: string) => ` > ${seconds(Number(threshold))}`),
      ...(rule.for && { for: shortened(rule.for) }),
      ...(rule.keep_firing_for && { keep_firing_for: shortened(rule.keep_firing_for) }),
    })),
  }));
  return stringify({ groups: shortenedGroups });
}
