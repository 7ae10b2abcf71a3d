import { AnchoredRegExp } from '../text/anchored-regexp.ts';

export type Labels = Readonly<Record<string, string>>;

/** The labels that meet a condition. */
export function where(labels: Labels, isKept: (name: string) => boolean): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => isKept(name)));
}

/** `a="b",c="d"` */
export function labelsText(labels: Labels, omitted: readonly string[] = []): string {
  const shown = Object.entries(labels).filter(([name]) => !omitted.includes(name));
  return shown.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',');
}

/** An entry of `metric_relabel_configs` or `alert_relabel_configs`. */
export interface RelabelConfig {
  readonly action: string;
  readonly source_labels: readonly string[];
  readonly regex: string;
}

/** Whether series are dropped by their name alone. Those that other labels decide on are not computed. */
export function dropsMetric({ action, source_labels, regex }: RelabelConfig, metric: string): boolean {
  if (!['drop', 'keep'].includes(action) || source_labels.join() !== '__name__') return false;
  return new AnchoredRegExp(regex).matches(metric) === (action === 'drop');
}

/** The actions that do nothing but drop labels. */
export const LABEL_ACTIONS = ['labeldrop', 'labelkeep'];

export function dropsLabel({ action, regex }: RelabelConfig, label: string): boolean {
  if (!LABEL_ACTIONS.includes(action)) return false;
  return new AnchoredRegExp(regex).matches(label) === (action === 'labeldrop');
}

/** The labels that remain. */
export function keptLabels(configs: readonly RelabelConfig[], labels: Labels): Labels {
  return where(labels, (name) => !configs.some((config) => dropsLabel(config, name)));
}
